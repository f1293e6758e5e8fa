"""The callback that keeps checkpoints, so that a run can go on as if it had never stopped."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch
from pytorch_lightning import Callback, LightningModule, Trainer

from motionpred.errors import TrainingError
from motionpred.training.checkpoint_files import DRAFT, FOLDER, keep
from motionpred.training.facts import FACTS, facts_of
from motionpred.training.interruption import StopRequest, TrainingStopped
from motionpred.training.recorder import RunRecorder


class CheckpointKeeper(Callback):
    """Writes a checkpoint every so many steps or minutes, at the end, and when asked to stop.

    It stands last among the callbacks, so that a checkpoint holds what they made of its step. The
    step's validation comes before it too: where a run goes on, nothing of a step is left to do.
    """

    def __init__(self, recorder: RunRecorder) -> None:
        self.recorder = recorder
        self.config = recorder.config.trainer
        self.request = StopRequest()
        self._saved = time.monotonic()
        self._pending = self._stopping = False

    @property
    def folder(self) -> Path:
        """Folder of the checkpoints."""
        return self.recorder.folder / FOLDER

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """From now on signals wait for the end of a step."""
        self._saved = time.monotonic()
        self.request.listen()

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Save if it is time; where a validation comes at this step, after it.

        Raises:
            TrainingStopped: a signal asked for it, and the checkpoint is written.
        """
        step = trainer.global_step
        wanted, stop = self._wanted(trainer, step)
        if not wanted:
            return
        if trainer.limit_val_batches and step % self.config.val_every == 0:
            self._pending, self._stopping = True, stop
        else:
            self._save_and_leave(trainer, stop)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Save what was put off.

        Raises:
            TrainingStopped: as after a step.
        """
        if self._pending and not trainer.sanity_checking:
            self._pending = False
            self._save_and_leave(trainer, self._stopping)

    def _save_and_leave(self, trainer: Trainer, stop: bool) -> None:
        self.save(trainer)
        if stop:
            raise TrainingStopped(self.request.signal_name or "a signal to another process")

    def _wanted(self, trainer: Trainer, step: int) -> tuple[bool, bool]:
        """Whether to save and whether to stop; the same in every process."""
        every, minutes = self.config.checkpoint_every, self.config.checkpoint_minutes
        timely = minutes > 0 and time.monotonic() - self._saved >= 60 * minutes
        saves = step == self.config.max_steps or timely
        if every is not None:
            saves |= step % every == 0
        wish = 2 if self.request.signal_name else int(saves)
        if trainer.world_size > 1:
            wishes = torch.tensor(float(wish), device=trainer.strategy.root_device)
            wish = int(trainer.strategy.reduce(wishes, reduce_op="max"))
        return wish > 0, wish > 1

    def save(self, trainer: Trainer) -> None:
        """Write a checkpoint; every process takes part.

        Raises:
            TrainingError: the disk does not take it; what was there before is untouched.
        """
        draft = self.folder / DRAFT
        try:
            if trainer.is_global_zero:
                self.folder.mkdir(exist_ok=True)
            trainer.save_checkpoint(draft)
            if trainer.is_global_zero:
                keep(self.folder)
        except (OSError, RuntimeError) as error:
            draft.unlink(missing_ok=True)
            raise TrainingError(
                f"the checkpoint of step {trainer.global_step} cannot be written: {error}",
                file=self.folder,
                remedy="Make room, then go on with 'motionpred train resume=RUN'",
            ) from error
        self._saved = time.monotonic()

    def on_save_checkpoint(
        self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Say what the weights came from."""
        facts = facts_of(self.recorder.config, self.recorder.data, trainer.world_size)
        checkpoint[FACTS] = {**facts, "step": trainer.global_step}

    def on_exception(
        self, trainer: Trainer, pl_module: LightningModule, exception: BaseException
    ) -> None:
        """Signals are the caller's again."""
        self.request.release()

    def teardown(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Signals are the caller's again."""
        self.request.release()
