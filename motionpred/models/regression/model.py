"""The regression model: scene encoder, modes that propose a path and refine it once.

Shapes: B scenes, K modes, A agents, Q predicted agents, S steps of the future that are asked for,
C knots, D width.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from motionpred.graph import SceneBatch
from motionpred.models.contract import Forecast, ForecastModel, Term
from motionpred.models.diagnostics import health
from motionpred.models.encoder import SIZES, SceneEncoder, SceneTokens
from motionpred.models.layers.fan_modes import FAN, fan_turns, fan_velocities
from motionpred.models.layers.feed_forward import mlp
from motionpred.models.layers.frames import from_own, full_precision, rotate, to_own
from motionpred.models.layers.knots import knot_integral, knot_steps
from motionpred.models.layers.places import Places, locate
from motionpred.models.layers.recent_motion import recent_motion
from motionpred.models.modes import top_modes
from motionpred.models.regression.config import RegressionConfig
from motionpred.models.regression.decoder import Decoder
from motionpred.models.regression.heads import (
    AgentScore,
    PathHead,
    Paths,
    SceneScore,
    motion_rates,
    paths_of,
    scale_of,
)
from motionpred.models.regression.loss import (
    Truth,
    agent_weights,
    assignment,
    distances,
    likelihood_terms,
    path_terms,
    temperature,
)
from motionpred.models.regression.predicted import Predicted
from motionpred.scene import TimeSpec

_LENGTH = 10.0  # metres that count as 1 where a path ends
# Paths are smooth between knots half a second apart: the loss need not look at every step.
_LOOK = 0.2  # seconds


class OwnFrameModes(NamedTuple):
    """Modes of the predicted agents, in their own frames, at S steps."""

    proposed: Paths
    refined: Paths
    scale: Tensor  # [B, K, Q, 2, S] Laplace b of the refined positions
    logit: Tensor  # [B, K] joint, [B, Q, K] otherwise


class Regression(ForecastModel):
    """Six futures in one pass; each starts from one motion of the fan."""

    name: ClassVar[str] = "regression"
    Config: ClassVar[type[RegressionConfig]] = RegressionConfig
    config: RegressionConfig
    integral: Tensor

    def __init__(self, config: RegressionConfig, time: TimeSpec) -> None:
        super().__init__(config, time)
        size = SIZES[config.size]
        self.encoder = SceneEncoder(size, time, config.encoder)
        self.mode = nn.Parameter(torch.randn(len(FAN), size.width))
        self.propose = Decoder(size, config.encoder.cell)
        self.proposal = PathHead(size.width, time, spread=False)
        self.end_token = mlp(4, size.width, size.width)
        self.refine = Decoder(size, config.encoder.cell)
        self.refinement = PathHead(size.width, time, spread=True)
        self.score = SceneScore(size.width) if config.joint else AgentScore(size.width)
        prior_K = torch.tensor([probability for _, _, probability in FAN])
        self.prior = nn.Parameter(prior_K.log())
        self.register_buffer("integral", knot_integral(time), persistent=False)

    def forward(self, batch: SceneBatch, predicted: Predicted, steps: slice) -> OwnFrameModes:
        """All modes of all predicted agents at ``steps``; entries of padding mean nothing."""
        tokens = self.encoder(batch)
        pose_BQ3 = predicted.take(tokens.agent_pose)
        anchor = self._anchor(batch, predicted)
        scene = tokens.both, tokens.places
        start = self._places(tokens, pose_BQ3[:, None], predicted.mask_BQ)
        x_BKQD = predicted.take(tokens.agent)[:, None] + self.mode[:, None]
        x_BKQD = self.propose(x_BKQD, start, *scene)
        proposal = anchor + self.proposal(x_BKQD)
        end = paths_of(proposal.detach(), self.integral[-1:])
        there = self._places(tokens, _end_pose(end, pose_BQ3), predicted.mask_BQ)
        # The refinement may not bend the proposal to its own ends: it starts from constants.
        x_BKQD = self.refine(x_BKQD.detach() + self._end_token(end), there, *scene)
        change, spread = torch.split(self.refinement(x_BKQD), [3, 2], dim=-2)
        return OwnFrameModes(
            proposed=paths_of(proposal, self.integral[steps]),
            refined=paths_of(proposal.detach() + change, self.integral[steps]),
            scale=scale_of(spread, self.integral[steps]),
            logit=full_precision(self.score(x_BKQD, predicted.mask_BQ)) + self.prior,
        )

    def loss(self, batch: SceneBatch, *, seed: int, epoch: int) -> dict[str, Term]:
        """Paths, headings, spreads and scores, see ``loss.py``; nothing is drawn at random."""
        predicted = Predicted.of(batch)
        steps = self._looked_at()
        modes = self(batch, predicted, steps)
        truth = self._truth(batch, predicted, steps)
        config = self.config
        warmth = temperature(
            epoch, config.anneal_epochs, config.temperature, config.final_temperature
        )
        proposed = distances(modes.proposed.position, truth)
        refined = distances(modes.refined.position, truth)
        assigned = assignment(refined, truth, warmth, joint=config.joint)
        return {
            **path_terms("proposed", modes.proposed, proposed, truth, assigned),
            **path_terms("refined", modes.refined, refined, truth, assigned),
            **likelihood_terms(modes.refined.position, modes.scale, modes.logit, truth, assigned),
        }

    @torch.no_grad()
    def forecast(self, batch: SceneBatch, *, modes: int, seed: int) -> Forecast:
        """At most six futures, most probable first; ``seed`` changes nothing."""
        predicted = Predicted.of(batch)
        own = self(batch, predicted, slice(None))
        position_BKQS2 = own.refined.position.transpose(-1, -2)
        pose_B1Q13 = predicted.take(batch.pose)[:, None, :, None]
        agents = batch.predict.shape[1]
        forecast = Forecast(
            position=predicted.spread(from_own(position_BKQS2, pose_B1Q13), agents),
            probability=predicted.probability(own.logit, agents),
            heading=predicted.spread(own.refined.heading + pose_B1Q13[..., 2], agents),
            scale=predicted.spread(own.scale.transpose(-1, -2), agents),
        )
        if self.config.combine and not forecast.joint:
            return forecast.combine(batch, modes)
        return top_modes(forecast, modes)

    def diagnostics(self, batch: SceneBatch, forecast: Forecast) -> dict[str, Term]:
        """Spread and wins of the modes, overlap of the agents; see ``models/diagnostics.py``."""
        return health(batch, forecast)

    def _looked_at(self) -> slice:
        """Steps that the loss looks at: the last, and back from it about every 0.2 s."""
        every = max(round(_LOOK / self.time.dt), 1)
        return slice((self.time.future - 1) % every, None, every)

    def _places(self, tokens: SceneTokens, pose: Tensor, mask_BQ: Tensor) -> Places:
        mask = mask_BQ[:, None].expand(*pose.shape[:-1])
        return locate(pose, tokens.centre[:, None], self.encoder.shape, mask=mask)

    def _anchor(self, batch: SceneBatch, predicted: Predicted) -> Tensor:
        """Rates ``[B, K, Q, 3, C]`` of the motions of the fan."""
        motion = recent_motion(batch, self.time, steps=10)
        step_BQ2 = predicted.take(rotate(motion.displacement, -batch.pose[..., 2]))
        step_C = knot_steps(self.time).to(step_BQ2)
        turn = self.config.turn_rate * self.time.dt
        velocity = fan_velocities(step_BQ2, step_C, turn) / self.time.dt
        turn_K = fan_turns(step_C.new_ones(1), self.config.turn_rate)[:, 0]
        return motion_rates(velocity, turn_K)

    def _end_token(self, end: Paths) -> Tensor:
        """Where a path ends and how it is turned there, as ``[B, K, Q, D]``."""
        position, turn = end.position[..., 0] / _LENGTH, end.heading
        distance = torch.linalg.vector_norm(position, dim=-1, keepdim=True)
        shrunk = position * torch.log1p(distance) / (distance + 1e-3)
        return self.end_token(torch.cat([shrunk, torch.cos(turn), torch.sin(turn)], dim=-1))

    def _truth(self, batch: SceneBatch, predicted: Predicted, steps: slice) -> Truth:
        target = batch.target
        pose_BQ13 = predicted.take(batch.pose)[:, :, None]
        state_BQS3 = predicted.take(target.state[:, :, steps, :3])
        flags_BQS4 = predicted.take(target.flags[:, :, steps])
        return Truth.of(
            position=to_own(state_BQS3[..., :2], pose_BQ13).transpose(-1, -2),
            heading=state_BQS3[..., 2] - pose_BQ13[..., 2],
            valid=flags_BQS4[..., 0],
            directed=flags_BQS4[..., 3],
            weight=predicted.take(agent_weights(batch, self.config.other_weight)),
        )


def _end_pose(end: Paths, pose_BQ3: Tensor) -> Tensor:
    """Where paths end: x, y, heading ``[B, K, Q, 3]`` in the scene frame."""
    end_BKQ2 = from_own(end.position[..., 0], pose_BQ3[:, None])
    heading_BKQ1 = end.heading + pose_BQ3[:, None, :, None, 2]
    return torch.cat([end_BKQ2, heading_BKQ1], dim=-1)
