"""The same arrays for PyTorch Geometric: one HeteroData a scene, with a fixed schema.

Node types ``agent`` and ``map``; one edge type ``("map", kind, "map")`` for every EdgeKind, empty
where a scene has no such link: ``Batch.from_data_list`` keeps only the types of its first scene.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from motionpred.graph.arrays import DROPPED, Array, SceneArrays
from motionpred.graph.encode import encode
from motionpred.graph.options import BatchOptions
from motionpred.scene import EdgeKind, Scene, TimeSpec

if TYPE_CHECKING:
    from torch_geometric.data import HeteroData

_AGENT = (
    "track_key",
    "history_state",
    "history_flags",
    "pose",
    "age",
    "type",
    "roles",
    "predict",
    "target_state",
    "target_flags",
)
# name in HeteroData -> name in SceneArrays
_MAP = {
    "points": "map_points",
    "pose": "map_pose",
    "category": "map_category",
    "attributes": "map_attributes",
}


def build_graph(scene: Scene, time: TimeSpec, options: BatchOptions | None = None) -> HeteroData:
    """A scene as HeteroData: the arrays of :func:`motionpred.graph.encode`, nothing else.

    ``data["agent"]`` holds the agent arrays by their names, ``data["map"]`` points, pose, category
    and attributes, ``data["map", "successor", "map"]`` and so on ``edge_index`` and ``opposite``;
    scene-wide values have a leading axis of 1, so that batches stack them.

    Raises:
        ConfigError: as :func:`motionpred.graph.encode`.
    """
    return to_graph(encode(scene, time, options))


def to_graph(arrays: SceneArrays) -> HeteroData:
    """Encoded arrays as HeteroData; tensors share their memory."""
    from torch_geometric.data import HeteroData

    data = HeteroData()
    data.scene_id = arrays.scene_id
    data.scene_key = torch.tensor([arrays.scene_key])
    data.origin = torch.from_numpy(arrays.origin)[None]
    data.time = torch.from_numpy(arrays.time)[None]
    data.dropped = torch.tensor([[arrays.dropped.get(name, 0) for name in DROPPED]])
    agent, pieces = data["agent"], data["map"]
    agent.num_nodes = len(arrays.track_key)
    agent.track_id = arrays.track_id.tolist()
    for name in _AGENT:
        agent[name] = torch.from_numpy(getattr(arrays, name))
    pieces.num_nodes = len(arrays.map_pose)
    for name, source in _MAP.items():
        pieces[name] = torch.from_numpy(getattr(arrays, source))
    for kind in EdgeKind:
        links = arrays.lane_edges[arrays.lane_edges[:, 2] == kind]
        store = data["map", kind.name.lower(), "map"]
        store.edge_index = torch.from_numpy(np.ascontiguousarray(links[:, :2].T))
        store.opposite = torch.from_numpy(links[:, 3] != 0)
    return data


def from_graph(data: HeteroData) -> SceneArrays:
    """The inverse of :func:`to_graph`, exactly."""
    agent, pieces = data["agent"], data["map"]
    counts = zip(DROPPED, data.dropped[0].tolist(), strict=True)
    return SceneArrays(
        scene_id=data.scene_id,
        scene_key=int(data.scene_key[0]),
        track_id=np.array(agent.track_id, np.str_),
        origin=data.origin[0].numpy(),
        time=data.time[0].numpy(),
        lane_edges=np.concatenate([_links(data, kind) for kind in EdgeKind]),
        dropped={name: count for name, count in counts if count},
        **{name: agent[name].numpy() for name in _AGENT},
        **{source: pieces[name].numpy() for name, source in _MAP.items()},
    )


def _links(data: HeteroData, kind: EdgeKind) -> Array:
    store = data["map", kind.name.lower(), "map"]
    ends = store.edge_index.T.numpy()
    columns = np.full((len(ends), 1), int(kind)), store.opposite[:, None].numpy().astype(np.int64)
    return np.concatenate([ends, *columns], axis=1)
