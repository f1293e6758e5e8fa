"""How an agent moved lately: displacement and turn per step, from the past only.

Shapes: B scenes, A agents, H history steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from motionpred.graph import SceneBatch
from motionpred.scene import TimeSpec

Clock = Literal["steps", "time"]

# Recorded steps that a motion is taken over. With fewer the noise of positions shows in it, with
# more it lags behind a turn; the named baselines are defined by this number.
RECENT_STEPS = 10


@dataclass
class RecentMotion:
    """Mean motion between two recorded steps; zero where an agent has one step only."""

    displacement: Tensor  # [B, A, 2] metres per step of the chord, scene frame
    turn: Tensor  # [B, A] radians per step
    elapsed: Tensor  # [B, A] steps between the two ends of the chord, at least 1


def recent_motion(
    batch: SceneBatch,
    time: TimeSpec,
    *,
    steps: int,
    skip: int = 0,
    clock: Clock = "steps",
    max_turn_rate: float = math.inf,
) -> RecentMotion:
    """Motion over the last ``steps`` recorded steps before the newest ``skip`` ones.

    An agent with fewer recorded steps uses those that it has. ``clock="steps"`` divides by the
    number of steps passed, missing ones included; ``"time"`` by the recorded time in units of
    ``time.dt``. A change of heading between two neighbouring steps above ``max_turn_rate`` (rad/s)
    is a jump of the label, not a turn, and is left out.
    """
    valid_BAH = batch.history.valid
    place_BAH = valid_BAH.flip(-1).cumsum(-1).flip(-1)  # 1 at the newest recorded step, 2 before it
    recorded_BA1 = valid_BAH.sum(-1, keepdim=True)
    skip_BA1 = (recorded_BA1 - 1).clamp(0, skip)  # at least one step has to remain
    used_BAH = valid_BAH & (place_BAH > skip_BA1) & (place_BAH <= skip_BA1 + steps + 1)
    first_BA = used_BAH.to(torch.int64).argmax(-1)
    last_BA = used_BAH.shape[-1] - 1 - used_BAH.flip(-1).to(torch.int64).argmax(-1)
    chord_BA2 = _at(batch.history.position, last_BA) - _at(batch.history.position, first_BA)
    chord_BA2 = torch.where(used_BAH.any(-1)[..., None], chord_BA2, 0.0)
    passed_BA = (last_BA - first_BA).to(chord_BA2.dtype)
    if clock == "time":
        seconds_BA = batch.time.gather(1, last_BA) - batch.time.gather(1, first_BA)
        passed_BA = torch.where(last_BA > first_BA, seconds_BA / time.dt, 0.0)
    elapsed_BA = torch.where(last_BA > first_BA, passed_BA, 1.0)
    turn_BA = _turn(batch.history.heading, used_BAH, max_turn_rate * time.dt)
    return RecentMotion(chord_BA2 / elapsed_BA[..., None], turn_BA, elapsed_BA)


def _at(values_BAH2: Tensor, step_BA: Tensor) -> Tensor:
    index = step_BA[..., None, None].expand(-1, -1, 1, values_BAH2.shape[-1])
    return values_BAH2.gather(2, index).squeeze(2)


def _turn(heading_BAH: Tensor, used_BAH: Tensor, limit: float) -> Tensor:
    step_BAH = heading_BAH[..., 1:] - heading_BAH[..., :-1]
    step_BAH = torch.atan2(torch.sin(step_BAH), torch.cos(step_BAH))
    counts_BAH = used_BAH[..., 1:] & used_BAH[..., :-1] & (step_BAH.abs() <= limit)
    total_BA = torch.where(counts_BAH, step_BAH, 0.0).sum(-1)
    return total_BA / counts_BAH.sum(-1).clamp(min=1)
