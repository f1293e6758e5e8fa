"""Which device to compute on, and moving batches to it."""

from __future__ import annotations

import torch
from torch import Tensor

from motionpred.errors import ConfigError
from motionpred.graph import SceneBatch


def resolve_device(device: str | torch.device) -> torch.device:
    """``auto`` is the accelerator of this machine, else the CPU.

    Raises:
        ConfigError: there is no such device here.
    """
    if str(device) == "auto":
        accelerator = torch.accelerator.current_accelerator(check_available=True)
        return accelerator or torch.device("cpu")
    try:
        found = torch.device(device)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ConfigError(
            f"{str(device)!r} cannot be used here: {reason}",
            field="device",
            remedy="Use cpu or auto",
        ) from error
    return found


def place(
    batch: SceneBatch,
    device: torch.device | str,
    dtype: torch.dtype,
    *,
    non_blocking: bool = False,
) -> SceneBatch:
    """The batch on ``device``, float32 numbers as ``dtype``; origins stay float64, or behind."""
    # World coordinates need float64; Apple's accelerator has none, so there they stay on the host.
    device = torch.device(device)

    def move(values: Tensor) -> Tensor:
        if values.dtype == torch.float64 and device.type == "mps":
            return values
        wanted = dtype if values.dtype == torch.float32 else None
        return values.to(device, wanted, non_blocking=non_blocking)

    return batch.map(move)


def dtype_of(module: torch.nn.Module) -> torch.dtype:
    """The type that a module's weights have; float32 for one without weights."""
    return next((p.dtype for p in module.parameters()), torch.float32)
