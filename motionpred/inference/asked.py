"""Agents that a benchmark asks about although their class says that they never move."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from motionpred.scene import AgentType, Role, Scene


def with_static_targets_unknown(scene: Scene) -> tuple[Scene, int]:
    """The scene with its SCORED agents of type STATIC as UNKNOWN, and how many are there at now.

    STATIC agents are context to every model. But benchmarks score some: Argoverse 2 has scored
    tracks of class ``background`` that travel many metres. They are forecast, and learned from, as
    things of unknown class.
    """
    tracks = scene.tracks
    asked = ((tracks.roles & int(Role.SCORED)) != 0) & (tracks.type == AgentType.STATIC)
    if not asked.any():
        return scene, 0
    kind = np.where(asked, AgentType.UNKNOWN, tracks.type).astype(tracks.type.dtype)
    count = int((asked & tracks.valid[:, scene.now]).sum())
    return replace(scene, tracks=replace(tracks, type=kind)), count
