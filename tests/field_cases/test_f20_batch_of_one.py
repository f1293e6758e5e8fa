"""F20: a last batch of one scene trains and is scored like any other."""

from __future__ import annotations

import pytest
import torch

from motionpred.graph import collate_scenes
from motionpred.models import get_model, model_names
from motionpred.testing import crossing_scene
from motionpred.testing.forecast_runs import run
from motionpred.testing.models import TIME, smallest_settings, variants

SCENES = [crossing_scene(f"scene-{i}", seed=i) for i in range(9)]
BATCHES = [SCENES[0:4], SCENES[4:8], SCENES[8:9]]


@pytest.mark.parametrize("name", [name for name in model_names() if get_model(name).trainable])
def test_f20_nine_scenes_train_in_batches_of_four_four_and_one(name: str) -> None:
    model = variants(name, smallest_settings(name), time=TIME)[0].train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for scenes in BATCHES:
        terms = model.loss(collate_scenes(scenes, TIME), seed=0, epoch=0)
        loss = torch.stack([term.sum / term.count for term in terms.values()]).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        assert torch.isfinite(loss)
        assert all(torch.isfinite(parameter).all() for parameter in model.parameters())


@pytest.mark.parametrize("name", model_names())
def test_f20_all_nine_are_forecast(name: str) -> None:
    model = variants(name, smallest_settings(name), time=TIME)[-1]
    assert sum(len(run(model, scenes)) for scenes in BATCHES) == 9
