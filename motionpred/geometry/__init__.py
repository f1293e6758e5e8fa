"""Pure functions on numpy arrays: angles, frames, polylines, boxes, kinematics."""
