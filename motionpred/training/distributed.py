"""What the processes of a training know together."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


def several_processes() -> bool:
    """Whether this process is one of several that train together."""
    return torch.distributed.is_available() and torch.distributed.is_initialized()


def sum_over_processes(values: Tensor) -> Tensor:
    """The sum of what every process has."""
    if several_processes():
        values = values.clone()
        torch.distributed.all_reduce(values)
    return values


def gather(values: T) -> list[T]:
    """What every process has, on every process."""
    if not several_processes():
        return [values]
    everyone: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(everyone, values)
    return everyone
