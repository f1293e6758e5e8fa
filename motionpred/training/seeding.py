"""Random numbers of a step: a pure function of the seed, the step and the process.

So there is no random state to keep in a checkpoint, and nothing between two steps can disturb it.
"""

from __future__ import annotations

import random

import numpy as np
import torch


def seed_step(seed: int, step: int, rank: int) -> None:
    """Seed torch, numpy and Python for one step of one process."""
    words = np.random.SeedSequence((seed, step, rank)).generate_state(3, np.uint64)
    torch.manual_seed(int(words[0] >> 1))
    np.random.seed(int(words[1]) % (1 << 32))  # noqa: NPY002 - for models that use it
    random.seed(int(words[2]))
