from __future__ import annotations

import pytest
import torch

from motionpred.models.denormals import flushed_denormals


def flushes() -> bool:
    return float(torch.tensor(1e-40) * 1.0) == 0.0


@pytest.mark.skipif(not torch.set_flush_denormal(False), reason="the processor cannot")
def test_denormals_are_zero_inside_and_as_before_afterwards() -> None:
    assert not flushes()
    with flushed_denormals():
        assert flushes()
        with flushed_denormals():
            pass
        assert flushes()
    assert not flushes()


def test_an_error_inside_leaves_nothing_behind() -> None:
    with pytest.raises(RuntimeError), flushed_denormals():
        raise RuntimeError
    assert not flushes()
