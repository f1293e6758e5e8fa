from __future__ import annotations

import numpy as np
import pytest
import torch

from motionpred.models.layers.turning import half_sinc, lever, turned

ANGLES = torch.tensor([0.0, 1e-8, -1e-3, 0.3, 0.499, 0.501, -2.0, 9.0], dtype=torch.float64)


def test_lever_and_half_sinc_are_the_integrals_that_they_stand_for():
    s = (np.arange(200_000) + 0.5) / 200_000 - 0.5  # midpoints
    for angle, value, chord in zip(ANGLES.tolist(), lever(ANGLES), half_sinc(ANGLES), strict=True):
        assert float(value) == pytest.approx((s * np.sin(angle * s)).mean(), abs=1e-9)
        assert float(chord) == pytest.approx(np.cos(angle * s).mean(), abs=1e-9)


def test_series_and_closed_form_meet_in_float32():
    below, above = lever(torch.tensor([0.5 - 1e-6, 0.5 + 1e-6]))
    assert float(below) == pytest.approx(float(above), abs=1e-6)


def test_gradients_are_finite_at_zero():
    angle = torch.zeros(3, requires_grad=True)
    (lever(angle) + half_sinc(angle)).sum().backward()
    assert torch.isfinite(angle.grad).all()


def test_turned_is_a_complex_product():
    got = turned(torch.tensor([1.0, 2.0]), torch.tensor(0.5), torch.tensor(3.0), torch.tensor(-1.0))
    want = complex(1, 2) * complex(3, -1) * np.exp(0.5j)
    assert got.tolist() == pytest.approx([want.real, want.imag])
