"""Kalman filter with a constant-velocity motion model, over recorded steps with gaps.

State per axis: position and velocity, driven by white acceleration of spectral density ``q``
(Bar-Shalom, Li and Kirubarajan, *Estimation with Applications to Tracking and Navigation*, 2001,
section 6.2.2): over ``h`` seconds ``Q = q [[h³/3, h²/2], [h²/2, h]]``. Noise is the same along both
axes, so one 2 x 2 covariance serves both and the filter does not depend on the axes.

Shapes: B scenes, A agents, H history steps, T future steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from motionpred.graph import SceneBatch
from motionpred.models.baselines.baseline import Baseline, one_mode
from motionpred.models.contract import Forecast


@dataclass(frozen=True)
class KalmanConfig:
    """Settings of ``kalman``: the noise that the filter assumes."""

    position_std: float = 0.15  # m, of a recorded position
    acceleration_density: float = 0.5  # m²/s³, white acceleration
    speed_std: float = 10.0  # m/s, before anything moved


class _State(NamedTuple):
    position: Tensor  # [B, A, 2] metres relative to the last recorded position
    velocity: Tensor  # [B, A, 2] metres per second
    pp: Tensor  # [B, A] m², variance of the position
    pv: Tensor  # [B, A] m²/s, covariance
    vv: Tensor  # [B, A] m²/s², variance of the velocity


class Kalman(Baseline):
    """Filtered position and velocity, extrapolated; the Laplace scale is the predicted spread."""

    name: ClassVar[str] = "kalman"
    Config: ClassVar[type[KalmanConfig]] = KalmanConfig
    config: KalmanConfig

    def continue_motion(self, batch: SceneBatch) -> Forecast:
        """One mode with ``scale``; the heading stays what it is."""
        state = self._filter(batch)
        seconds_T = self.horizon(batch.pose) * self.time.dt
        displacement_BAT2 = (
            state.position[:, :, None] + state.velocity[:, :, None] * seconds_T[:, None]
        )
        heading_BAT = batch.pose[..., 2:].expand(-1, -1, len(seconds_T))
        forecast = one_mode(batch, displacement_BAT2, heading_BAT)
        variance_BAT = (
            state.pp[..., None]
            + 2 * state.pv[..., None] * seconds_T
            + state.vv[..., None] * seconds_T**2
            + self.config.acceleration_density * seconds_T**3 / 3
        )
        # A Laplace distribution of scale b has the variance 2 b².
        scale_BAT = torch.sqrt(variance_BAT / 2)
        forecast.scale = scale_BAT[:, None, ..., None].expand(-1, -1, -1, -1, 2)
        return forecast

    def _filter(self, batch: SceneBatch) -> _State:
        valid_BAH = batch.history.valid
        measured_BAH2 = batch.history.position - batch.pose[:, :, None, :2]
        measured_BAH2 = torch.where(valid_BAH[..., None], measured_BAH2, 0.0)
        zero_BA2 = torch.zeros_like(measured_BAH2[:, :, 0])
        # Nothing is known before the first recorded step: it alone sets the position.
        unknown_BA = torch.full_like(zero_BA2[..., 0], math.inf)
        state = _State(
            zero_BA2,
            zero_BA2,
            unknown_BA,
            torch.zeros_like(unknown_BA),
            torch.full_like(unknown_BA, self.config.speed_std**2),
        )
        interval_BH = batch.time.diff(dim=-1).clamp(min=0.0)
        seen_BA = torch.zeros_like(valid_BAH[..., 0])
        for step in range(valid_BAH.shape[-1]):
            if step > 0:
                state = _choose(
                    seen_BA, self._predict(state, interval_BH[:, step - 1, None]), state
                )
            z_BA2, now_BA = measured_BAH2[:, :, step], valid_BAH[:, :, step]
            updated = _choose(seen_BA, self._update(state, z_BA2), self._start(state, z_BA2))
            state = _choose(now_BA, updated, state)
            seen_BA = seen_BA | now_BA
        # An agent that was never there is padding: any finite numbers will do.
        return _choose(seen_BA, state, self._start(state, zero_BA2))

    def _start(self, state: _State, z_BA2: Tensor) -> _State:
        pp = torch.full_like(state.vv, self.config.position_std**2)
        return state._replace(position=z_BA2, pp=pp)

    def _predict(self, state: _State, h_B1: Tensor) -> _State:
        q = self.config.acceleration_density
        return _State(
            state.position + state.velocity * h_B1[..., None],
            state.velocity,
            state.pp + 2 * h_B1 * state.pv + h_B1**2 * state.vv + q * h_B1**3 / 3,
            state.pv + h_B1 * state.vv + q * h_B1**2 / 2,
            state.vv + q * h_B1,
        )

    def _update(self, state: _State, z_BA2: Tensor) -> _State:
        total = state.pp + self.config.position_std**2
        gain_p, gain_v = state.pp / total, state.pv / total
        innovation_BA2 = z_BA2 - state.position
        return _State(
            state.position + gain_p[..., None] * innovation_BA2,
            state.velocity + gain_v[..., None] * innovation_BA2,
            self.config.position_std**2 * gain_p,
            self.config.position_std**2 * gain_v,
            state.vv - gain_v * state.pv,
        )


def _choose(mask_BA: Tensor, yes: _State, no: _State) -> _State:
    def pick(a: Tensor, b: Tensor) -> Tensor:
        return torch.where(mask_BA[..., None] if a.ndim == 3 else mask_BA, a, b)

    return _State(*(pick(a, b) for a, b in zip(yes, no, strict=True)))
