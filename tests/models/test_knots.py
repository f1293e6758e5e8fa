from __future__ import annotations

import pytest
import torch

from motionpred.models.layers.knots import knot_count, knot_integral
from motionpred.scene import TimeSpec

CLOCKS = [TimeSpec(0.1, 50, 60), TimeSpec(0.5, 5, 12), TimeSpec(0.1, 11, 80), TimeSpec(0.4, 8, 1)]


@pytest.mark.parametrize("time", CLOCKS, ids=str)
def test_a_constant_rate_gives_a_straight_line(time: TimeSpec) -> None:
    moved = knot_integral(time) @ torch.full((knot_count(time),), 3.0)
    seconds = torch.arange(1, time.future + 1) * time.dt
    torch.testing.assert_close(moved, 3.0 * seconds)


def test_there_are_two_knots_a_second_and_never_more_than_steps() -> None:
    assert [knot_count(time) for time in CLOCKS] == [12, 12, 16, 1]


def test_a_linear_rate_gives_a_parabola_between_the_outer_knots() -> None:
    time = CLOCKS[0]
    knot = (torch.arange(12, dtype=torch.float64) + 0.5) * 0.5
    moved = knot_integral(time).double() @ knot  # a rate of t at time t
    seconds = torch.arange(1, 61, dtype=torch.float64) * 0.1
    parabola = seconds.square() / 2
    inside = slice(3, -3)
    error = (moved - parabola)[inside]
    assert (error - error[0]).abs().max() < 1e-5


def test_with_a_knot_for_every_step_rates_are_those_of_the_steps() -> None:
    time = CLOCKS[1]
    rate = torch.randn(12)
    torch.testing.assert_close(knot_integral(time) @ rate, rate.cumsum(0) * time.dt)
