"""The one LightningModule: loss by sums and counts, AdamW, validation by a benchmark's protocol."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import torch
from pytorch_lightning import LightningModule
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from motionpred.errors import TrainingError
from motionpred.graph import BatchOptions, SceneBatch
from motionpred.inference.placement import dtype_of
from motionpred.metrics import Protocol, Report
from motionpred.models import ForecastModel, Term
from motionpred.prediction import Prediction
from motionpred.scene import Scene
from motionpred.training.config import TrainerConfig
from motionpred.training.data import ValidationScenes
from motionpred.training.distributed import gather, sum_over_processes
from motionpred.training.optimiser import adamw, learning_rate_factor
from motionpred.training.seeding import seed_step
from motionpred.training.steps import TrainStep
from motionpred.training.validation import Validation


class ForecastTraining(LightningModule):
    """Trains any model of the zoo.

    The loss of a step is the sum over terms of (sum over everything) / (count over everything),
    where everything is all scenes of the step, on all devices and in all accumulated parts. A step
    whose counts are all 0 moves nothing. ``report`` is the latest whole validation; ``dropped``
    counts what the batches of the first epoch left out.
    """

    def __init__(
        self,
        model: ForecastModel,
        config: TrainerConfig,
        options: BatchOptions,
        *,
        protocol: Protocol | None = None,
        patience: int | None = None,
        show: int = 0,
    ) -> None:
        """``patience``: after so many steps in a row without any target, training stops.

        ``show``: how many scenes of a validation are kept in ``shown``, with their forecasts.
        """
        super().__init__()
        self.model = model
        self.config = config
        self.options = options
        self.protocol = protocol
        self.patience = patience
        self.show = show
        self.report: Report | None = None
        self.diagnostics: dict[str, float] = {}  # of the same validation, where a model has any
        self.shown: list[tuple[Scene, Prediction]] = []
        self.empty_steps = 0
        self.dropped: Counter[str] = Counter()  # in the first epoch, of this process
        self._empty_in_a_row = 0
        self._nothing_to_learn = False
        self._scene_id: list[str] = []
        self._validation: Validation | None = None

    def transfer_batch_to_device(
        self, batch: Any, device: torch.device, dataloader_idx: int
    ) -> Any:
        """Training steps go to the device; scenes of a validation are encoded by the Predictor."""
        if isinstance(batch, TrainStep):
            return batch.to(device, dtype_of(self.model), non_blocking=True)
        return batch

    def on_train_batch_start(self, batch: TrainStep, batch_idx: int) -> None:
        """Random numbers that are not keyed follow the step too, whatever came before it."""
        seed_step(self.config.seed, self.trainer.global_step, self.trainer.global_rank)

    def training_step(self, batch: TrainStep, batch_idx: int) -> Tensor:
        """The loss of one optimiser step.

        Raises:
            TrainingError: it is not finite (names the scenes), or nothing has a target.
        """
        self._scene_id = batch.scene_id
        if batch.epoch == 0 and not batch.ghost:
            self._count(batch)
        terms = self._terms(batch)
        names = list(terms)
        weight = 0.0 if batch.ghost else 1.0
        sums = torch.stack([terms[name].sum for name in names]) * weight
        counts = torch.stack([terms[name].count.to(sums) for name in names]) * weight
        own = torch.stack([sums.detach(), counts.detach()])
        total = sum_over_processes(own)
        values = total.tolist()
        self._check_finite(names, own.tolist()[0], values[0])
        self._note_empty(values[1])
        # Lightning averages gradients over devices: times their number makes it a sum again.
        scale = torch.where(total[1] > 0, self.trainer.world_size / total[1], 0.0)
        loss = (sums * scale).sum()
        means = {
            name: value / count if count else 0.0
            for name, value, count in zip(names, *values, strict=True)
        }
        self.log("train/loss", sum(means.values()), prog_bar=True, batch_size=max(len(batch), 1))
        for name, value in means.items():
            self.log(f"train/{name}", value, batch_size=max(len(batch), 1))
        return loss

    def _count(self, step: TrainStep) -> None:
        for part in step.parts:
            self.dropped.update(part.dropped)
            without = int((~part.target.valid.flatten(1).any(dim=1)).sum())
            if without:
                self.dropped["scenes_without_future"] += without

    def _terms(self, step: TrainStep) -> dict[str, Term]:
        if len(step.parts) == 1:
            return self._loss(step.parts[0], step.epoch)
        # A gradient must be divided by counts that are known only after the last part. So a first
        # pass without memory gives them all, and the parts are computed again on the way back.
        parts = [
            checkpoint(self._loss, part, step.epoch, use_reentrant=False) for part in step.parts
        ]
        return {
            name: Term(
                torch.stack([part[name].sum for part in parts]).sum(),
                torch.stack([part[name].count for part in parts]).sum(),
            )
            for name in parts[0]
        }

    def _loss(self, part: SceneBatch, epoch: int) -> dict[str, Term]:
        return self.model.loss(part, seed=self.config.seed, epoch=epoch)

    def _check_finite(self, names: list[str], own: list[float], total: list[float]) -> None:
        if all(map(math.isfinite, total)):
            return
        bad = [name for name, value in zip(names, own, strict=True) if not math.isfinite(value)]
        if not bad:
            raise TrainingError("the loss of another process is not finite")
        self._fail(f"the loss {' and '.join(bad)} is not finite")

    def _fail(self, message: str) -> None:
        raise TrainingError(
            f"{message} at step {self.trainer.global_step}",
            scene=", ".join(self._scene_id),
            remedy="Look at these scenes with 'motionpred inspect --check'; "
            "else lower trainer.learning_rate",
        )

    def _note_empty(self, counts: list[float]) -> None:
        self._nothing_to_learn = not any(counts)
        self.empty_steps += self._nothing_to_learn
        self._empty_in_a_row = self._empty_in_a_row + 1 if self._nothing_to_learn else 0
        if self.patience is not None and self._empty_in_a_row >= self.patience:
            raise TrainingError(
                f"no scene had a target in {self._empty_in_a_row} steps",
                remedy="Train on a split that has a future (train or val)",
            )

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Clip the gradient; take it away where there was nothing to learn from.

        Raises:
            TrainingError: the gradient is not finite; names the scenes.
        """
        if self._nothing_to_learn:
            # A gradient of zero would still decay weights and follow the momentum; None does not.
            optimizer.zero_grad(set_to_none=True)
            return
        limit = self.config.gradient_clip or math.inf
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), limit)
        value = float(norm)
        if not math.isfinite(value):
            self._fail("the gradient is not finite")
        self.log("train/gradient_norm", value, batch_size=max(len(self._scene_id), 1))

    def configure_optimizers(self) -> Any:
        """AdamW; the learning rate follows the step."""
        config = self.config
        optimizer = adamw(self.model, config.learning_rate, config.weight_decay)

        def factor(step: int) -> float:
            return learning_rate_factor(
                step,
                warmup=config.warmup_steps,
                total=config.max_steps,
                final=config.final_learning_rate,
            )

        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
        return {
            "optimizer": optimizer,
            "lr_scheduler": {"scheduler": schedule, "interval": "step", "name": "lr"},
        }

    def on_validation_epoch_start(self) -> None:
        """Forget the validation before."""
        assert self.protocol is not None
        self._validation = Validation(
            self.protocol, self.options, seed=self.config.seed, shown=self.show
        )

    def validation_step(self, batch: ValidationScenes, batch_idx: int) -> None:
        """Forecast and score scenes, exactly as ``motionpred evaluate`` does."""
        assert self._validation is not None
        self._validation.add(batch.scenes, self.model, self.device)

    def on_validation_epoch_end(self) -> None:
        """Figures over the scenes of all processes; a scene that came twice counts once.

        Raises:
            TrainingError: no scene has a future.
        """
        assert self._validation is not None
        validation, self._validation = self._validation, None
        report, diagnostics = validation.finish()
        if self.trainer.sanity_checking:
            return
        if report.scenes == 0:
            raise TrainingError(
                "no ground truth in the validation scenes",
                remedy="Give a val_store of a split that has a future",
            )
        self.report, self.diagnostics, self.shown = report, diagnostics, validation.shown
        for figure in report.figures:
            self.log(f"val/{figure.metric}@{figure.k}", figure.value, batch_size=max(figure.n, 1))

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """What was counted so far, over all processes; plain values."""
        checkpoint["counters"] = {
            "dropped": dict(sum(gather(self.dropped), Counter())),
            "empty_steps": self.empty_steps,
            "empty_in_a_row": self._empty_in_a_row,
        }

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Count on from there; what all processes dropped is counted by the first."""
        counters = checkpoint["counters"]
        self.dropped = Counter(counters["dropped"] if self.trainer.is_global_zero else {})
        self.empty_steps = counters["empty_steps"]
        self._empty_in_a_row = counters["empty_in_a_row"]
