"""Every registered model keeps the contract."""

from __future__ import annotations

import pytest

from motionpred.models import get_model, model_names
from motionpred.scene import TimeSpec
from motionpred.testing.models import Check, model_checks, smallest_settings, variants

CASES = [(name, check) for name in model_names() for check in model_checks(get_model(name))]


@pytest.mark.parametrize(
    ("name", "check"), CASES, ids=[f"{name}-{check.__name__}" for name, check in CASES]
)
def test_model_keeps_the_contract(name: str, check: Check) -> None:
    for model in variants(name, smallest_settings(name)):
        check(model)


@pytest.mark.parametrize("name", model_names())
@pytest.mark.parametrize(
    "time", [TimeSpec(0.5, 5, 12), TimeSpec(0.1, 11, 80)], ids=["2 Hz", "short history"]
)
def test_model_keeps_the_contract_on_other_clocks(name: str, time: TimeSpec) -> None:
    for model in variants(name, smallest_settings(name), time=time)[-1:]:
        for check in model_checks(model):
            check(model)
