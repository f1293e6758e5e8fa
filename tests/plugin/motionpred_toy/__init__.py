"""A motionpred plug-in with one dataset adapter and one model."""
