"""F19: a scene whose truth is all invalid adds nothing to the loss, and is no NaN."""

from __future__ import annotations

import pytest
import torch

from motionpred.models import ForecastModel, get_model, model_names
from motionpred.testing import crossing_scene, without_future
from motionpred.testing.model_losses import loss_of
from motionpred.testing.models import TIME, smallest_settings, variants

TRAINABLE = [name for name in model_names() if get_model(name).trainable]
S1 = crossing_scene("S1")
S2 = without_future(crossing_scene("S2", seed=1))


def models(name: str) -> list[ForecastModel]:
    return variants(name, smallest_settings(name), time=TIME)


@pytest.mark.parametrize("name", TRAINABLE)
def test_f19_the_loss_of_both_is_the_loss_of_the_one_with_truth(name: str) -> None:
    for model in models(name):
        both, one = loss_of(model, [S1, S2]), loss_of(model, [S1])
        for term in one:
            torch.testing.assert_close(both[term].sum, one[term].sum, rtol=1e-4, atol=0)
            assert float(both[term].count) == float(one[term].count)
        torch.stack([term.sum / term.count for term in both.values()]).sum().backward()
        assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


@pytest.mark.parametrize("name", TRAINABLE)
def test_f19_alone_it_gives_nothing_and_moves_nothing(name: str) -> None:
    for model in models(name):
        before = {key: value.clone() for key, value in model.state_dict().items()}
        terms = loss_of(model, [S2])
        assert all(term.sum.item() == 0 and term.count.item() == 0 for term in terms.values())
        optimiser = torch.optim.SGD(model.parameters(), lr=1.0)
        torch.stack(
            [term.sum / term.count.clamp(min=1) for term in terms.values()]
        ).sum().backward()
        optimiser.step()
        assert all(torch.equal(before[key], value) for key, value in model.state_dict().items())
