"""Six ways in which constant velocity may go wrong: baseline ``fan``, and anchors of learned modes.

Shapes: B scenes, K modes, A agents, T future steps, C times.
"""

from __future__ import annotations

import torch
from torch import Tensor

from motionpred.models.layers.turning import half_sinc, turned

# (speed factor, sign of the turn, probability), most probable first.
FAN = (
    (1.0, 0.0, 0.30),
    (0.5, 0.0, 0.20),
    (0.0, 0.0, 0.15),
    (1.0, 1.0, 0.13),
    (1.0, -1.0, 0.12),
    (1.5, 0.0, 0.10),
)


def fan_turns(step_T: Tensor, turn: float) -> Tensor:
    """Angle turned ``[K, T]`` in radians after each of ``step_T`` steps of ``turn`` radians."""
    sign_K = step_T.new_tensor([sign for _, sign, _ in FAN])
    return sign_K[:, None] * turn * step_T


def fan_paths(displacement_BA2: Tensor, step_T: Tensor, turn: float) -> Tensor:
    """Paths ``[B, K, A, T, 2]`` relative to the start, in the axes of ``displacement_BA2``.

    ``displacement_BA2`` is the present motion in metres per step. A turning path is an arc of the
    same speed that starts in the present direction.
    """
    factor_K = step_T.new_tensor([factor for factor, _, _ in FAN])
    angle_KT = fan_turns(step_T, turn)
    forward_KT = factor_K[:, None] * step_T * half_sinc(angle_KT)
    angle_KAT, forward_KAT = angle_KT[:, None], forward_KT[:, None]
    return turned(displacement_BA2[:, None, :, None], angle_KAT / 2, forward_KAT, forward_KAT * 0)


def fan_velocities(displacement_BA2: Tensor, step_C: Tensor, turn: float) -> Tensor:
    """Velocities ``[B, K, A, 2, C]`` on those paths at times ``step_C``, metres per step."""
    factor_K = step_C.new_tensor([factor for factor, _, _ in FAN])
    angle_KC = fan_turns(step_C, turn)
    ahead_K1C = (factor_K[:, None] * torch.cos(angle_KC))[:, None]
    left_K1C = (factor_K[:, None] * torch.sin(angle_KC))[:, None]
    x_B1A1, y_B1A1 = displacement_BA2[:, None, :, :, None].unbind(-2)
    return torch.stack(
        [x_B1A1 * ahead_K1C - y_B1A1 * left_K1C, x_B1A1 * left_K1C + y_B1A1 * ahead_K1C], dim=-2
    )
