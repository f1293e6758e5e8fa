"""The largest batch first: a lack of memory shows at the start, not after hours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from pytorch_lightning import Callback, LightningModule, Trainer

from motionpred.errors import TrainingError
from motionpred.graph import BatchOptions, SceneBatch, collate_scenes
from motionpred.inference.placement import dtype_of, place
from motionpred.scene import Scene
from motionpred.training.data import SceneData
from motionpred.training.module import ForecastTraining
from motionpred.training.parts import tokens
from motionpred.training.scenes import Scenes
from motionpred.training.steps import TrainSteps

_SAMPLE = 256  # scenes that are looked at; reading all of a large store would take minutes


@dataclass(frozen=True)
class BatchSize:
    """How large a batch is, padding included."""

    scenes: int
    agents: int
    map_pieces: int

    @classmethod
    def of(cls, batch: SceneBatch) -> BatchSize:
        """The size of ``batch``."""
        return cls(len(batch), batch.pose.shape[1], batch.map_mask.shape[1])

    def __str__(self) -> str:
        return f"{self.scenes} scenes of {self.agents} agents and {self.map_pieces} map pieces"


def largest_batch(steps: TrainSteps) -> SceneBatch:
    """As many scenes as a part can have, as wide as the widest of a sample of the scenes."""
    source, trainer = steps.source, steps.trainer
    most_agents, most_pieces = widest(source.scenes, source.options)
    both = collate_scenes([most_agents, most_pieces], source.time, source.options)
    largest_step = min(trainer.batch_size, source.order.epoch_scenes)
    scenes = -(-largest_step // (steps.world * trainer.accumulate))
    if trainer.part_tokens is not None:
        scenes = max(min(scenes, trainer.part_tokens // (tokens(both) // 2)), 1)
    if scenes == 1:
        chosen = max((most_agents, most_pieces), key=lambda s: sum(_size(s, source.options)))
        return collate_scenes([chosen], source.time, source.options)
    repeated = [most_agents, *[most_pieces] * (scenes - 1)]
    return collate_scenes(repeated, source.time, source.options)


def widest(scenes: Scenes, options: BatchOptions) -> tuple[Scene, Scene]:
    """The scene with the most agents and the one with the most map, of at most 256 evenly spread.

    Counted as far as the caps let them into a batch.
    """
    sample = np.linspace(0, len(scenes) - 1, min(len(scenes), _SAMPLE)).round().astype(int)
    most_agents = most_pieces = scenes[int(sample[0])]
    agents, pieces = _size(most_agents, options)
    for index in sample[1:]:
        scene = scenes[int(index)]
        here = _size(scene, options)
        if here[0] > agents:
            most_agents, agents = scene, here[0]
        if here[1] > pieces:
            most_pieces, pieces = scene, here[1]
    return most_agents, most_pieces


def _size(scene: Scene, options: BatchOptions) -> tuple[int, int]:
    present = int(scene.tracks.valid[:, : scene.now + 1].any(axis=1).sum())
    pieces = int(np.isin(scene.map.kind, options.map_kinds).sum())
    return (
        present if options.max_agents is None else min(present, options.max_agents),
        pieces if options.max_map is None else min(pieces, options.max_map),
    )


class LargestBatchCheck(Callback):
    """Computes the loss and the gradient of the largest batch once, and forgets them."""

    def __init__(self) -> None:
        self.size: BatchSize | None = None

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Try it.

        Raises:
            TrainingError: it does not fit into memory; says how large it is and what to lower.
        """
        assert isinstance(pl_module, ForecastTraining)
        data: Any = trainer.datamodule  # type: ignore[attr-defined]
        assert isinstance(data, SceneData)
        batch = largest_batch(data.steps())
        self.size = BatchSize.of(batch)
        model = pl_module.model
        kept = {name: buffer.clone() for name, buffer in model.named_buffers()}
        try:
            with trainer.precision_plugin.forward_context():
                placed = place(batch, pl_module.device, dtype_of(model))
                terms = model.loss(placed, seed=0, epoch=0)
                loss = torch.stack(
                    [term.sum / term.count.clamp(min=1) for term in terms.values()]
                ).sum()
            torch.autograd.backward(loss)
        except (MemoryError, RuntimeError) as error:
            if not _lacks_memory(error):
                raise
            raise TrainingError(
                f"the largest batch does not fit into memory: {self.size}",
                remedy="Set trainer.part_tokens (same result, more time), or lower "
                "trainer.batch_size, batch.max_agents or batch.max_map",
            ) from error
        finally:
            model.zero_grad(set_to_none=True)
            for name, buffer in model.named_buffers():
                buffer.data.copy_(kept[name])


def _lacks_memory(error: BaseException) -> bool:
    text = str(error).lower()
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or (
        "out of memory" in text or "can't allocate memory" in text
    )
