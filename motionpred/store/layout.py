"""The columns of a shard: one scene is one Arrow record batch, a single row of list columns.

Agent states are kept as rows, one per valid (agent, step) in that order, not as dense arrays; the
bit mask ``valid`` says where each row belongs. Lists that hold nothing but their default are left
out (null). Shapes: A agents, T steps, N valid states, M polylines, P points, E edges, S signals.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
_TAG = f"motionpred.scenes/{FORMAT}".encode()

SCALARS = {
    "scene_id": "string",
    "source": "string",  # key of the source that the scene was read from
    "ordinal": "int32",  # its place in that source
    "dataset": "string",
    "split": "string",
    "dt": "float64",
    "now": "int32",
    "info": "string",  # JSON
    "details": "string",  # JSON: has_z, sources of the fields, map report, widths of the ids
}
LISTS = {
    "time": "float64",  # [T]
    "track_id": "string",  # [A]
    "raw_type": "string",  # [A]
    "type": "int8",  # [A]
    "roles": "int16",  # [A]
    "valid": "bool",  # [A * T]
    "measured": "bool",  # [A * T]; null: equal to valid
    "velocity_valid": "bool",  # [A * T]; null: equal to valid
    "heading_valid": "bool",  # [A * T]; null: equal to valid
    "x": "float64",  # [N]
    "y": "float64",  # [N]
    "z": "float64",  # [N]; null: no z
    "heading": "float32",  # [N]
    "velocity_x": "float32",  # [N]
    "velocity_y": "float32",  # [N]
    "length": "float32",  # [N]; null: all 0, like the two that follow
    "width": "float32",  # [N]
    "height": "float32",  # [N]
    "map_point": "float64",  # [P * 3]; null where map_point_cm has them
    "map_point_cm": "int32",  # [P * 3], where every coordinate is a whole centimetre
    "map_start": "int32",  # [M + 1]
    "map_kind": "int8",  # [M]
    "map_id": "string",  # [M]
    "map_lane_type": "int8",  # [M]
    "map_marking": "int8",  # [M]
    "map_intersection": "bool",  # [M]
    "map_width": "float32",  # [M]; null: all 0
    "map_speed_limit": "float32",  # [M]; null: all 0
    "map_hole_of": "int32",  # [M]; null: all -1
    "map_has_z": "bool",  # [M]
    "edge": "int32",  # [2 * E]
    "edge_kind": "int8",  # [E]
    "edge_opposite": "bool",  # [E]
    "edge_range": "int32",  # [E * 4]; null: there is none
    "signal_lane": "int32",  # [S]
    "signal_state": "int8",  # [S * T]
    "signal_stop_point": "float64",  # [S * 3]
}
COLUMN = {name: i for i, name in enumerate([*SCALARS, *LISTS])}


@cache
def schema() -> pa.Schema:
    """The schema of every shard; its metadata names the format and its version."""
    import pyarrow as pa

    fields = [pa.field(name, arrow_type(kind)) for name, kind in SCALARS.items()]
    fields += [pa.field(name, pa.list_(arrow_type(kind))) for name, kind in LISTS.items()]
    return pa.schema(fields, metadata={b"format": _TAG})


def is_layout(found: pa.Schema) -> bool:
    """Whether a file's schema is the one that this module reads."""
    return bool(found.equals(schema(), check_metadata=True))


def arrow_type(kind: str) -> Any:
    """The Arrow type of a word of the tables above."""
    import pyarrow as pa

    return pa.bool_() if kind == "bool" else getattr(pa, kind)()
