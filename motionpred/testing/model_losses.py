"""What must hold for the loss of a model that learns; one function a rule, each takes the model."""

from __future__ import annotations

import math

import torch

from motionpred.graph import SceneBatch, collate_scenes
from motionpred.models import ForecastModel, Term
from motionpred.scene import Scene
from motionpred.testing.scene_changes import without_future, without_map
from motionpred.testing.traffic import traffic_scene

_RELATIVE = 1e-4  # sums of float32 in another order


def check_terms(model: ForecastModel) -> None:
    """Named sums and counts: finite scalars, the same every time."""
    batch = collate_scenes([traffic_scene(model.time)], model.time)
    terms = _terms(model, batch)
    assert terms, "the loss has no term"
    for name, term in terms.items():
        total, count = term.sum, term.count
        assert total.ndim == 0 and torch.isfinite(total), f"sum of {name!r} is {total}"
        assert count.ndim == 0 and count > 0, f"count of {name!r} is {count}"
        assert total.requires_grad, f"{name!r} has no gradient"
    for name, term in _terms(model, batch).items():
        assert torch.equal(term.sum, terms[name].sum), f"{name!r} differs when computed again"


def check_additive(model: ForecastModel) -> None:
    """Sums and counts of a batch are those of its scenes added up; no scene feels its mates."""
    scenes = [traffic_scene(model.time, f"scene-{i}", seed=i, cars=3 + i) for i in range(3)]
    scenes[2] = without_map(scenes[2])
    together = _terms(model, collate_scenes(scenes, model.time))
    parts = [_terms(model, collate_scenes([scene], model.time)) for scene in scenes]
    for name, term in together.items():
        for field in ("sum", "count"):
            added = sum(_plain(part[name])[field] for part in parts)
            value = _plain(term)[field]
            close = math.isclose(value, added, rel_tol=_RELATIVE, abs_tol=1e-4)
            assert close, f"{field} of {name!r} is {value:g}, its scenes add up to {added:g}"


def check_nothing_to_score(model: ForecastModel) -> None:
    """A scene without a future adds nothing; alone it gives sums and gradients of 0."""
    first = traffic_scene(model.time, "first")
    second = without_future(traffic_scene(model.time, "second", seed=1))
    alone = _terms(model, collate_scenes([first], model.time))
    for name, term in _terms(model, collate_scenes([first, second], model.time)).items():
        for field in ("sum", "count"):
            value, want = _plain(term)[field], _plain(alone[name])[field]
            close = math.isclose(value, want, rel_tol=_RELATIVE, abs_tol=1e-4)
            assert close, (
                f"{field} of {name!r} is {value:g} beside a scene without a future, {want:g} alone"
            )
    empty = collate_scenes([second], model.time)
    for name, term in _terms(model, empty).items():
        parts = _plain(term)
        assert parts == {"sum": 0.0, "count": 0.0}, (
            f"{name!r} is {parts} where there is nothing to score"
        )
    for name, gradient in gradients(model, empty).items():
        assert bool((gradient == 0).all()), f"gradient of {name} is not 0 with nothing to score"


def check_gradients(model: ForecastModel) -> None:
    """Every parameter takes part in every loss, with a finite gradient; something is learned."""
    scene = traffic_scene(model.time)
    batches = {
        "a scene": [scene],
        "a scene without a map": [without_map(scene)],
        "a scene without a future": [without_future(scene)],
        "two scenes": [scene, without_map(traffic_scene(model.time, "other", seed=1))],
    }
    learned = False
    for name, scenes in batches.items():
        found = gradients(model, collate_scenes(scenes, model.time))
        for parameter, gradient in found.items():
            assert bool(torch.isfinite(gradient).all()), (
                f"gradient of {parameter} is not finite for {name}"
            )
        learned |= any(bool((gradient != 0).any()) for gradient in found.values())
    assert learned, "no gradient is ever different from 0"


def gradients(model: ForecastModel, batch: SceneBatch) -> dict[str, torch.Tensor]:
    """Gradient of the sum of means by parameter, as training takes it.

    Raises:
        AssertionError: a parameter takes no part in the loss.
    """
    parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = torch.stack([t.sum / t.count.clamp(min=1) for t in _terms(model, batch).values()]).sum()
    found = torch.autograd.grad(loss, list(parameters.values()), allow_unused=True)
    result = {}
    for name, gradient in zip(parameters, found, strict=True):
        assert gradient is not None, f"parameter {name} takes no part in the loss"
        result[name] = gradient
    return result


def _terms(model: ForecastModel, batch: SceneBatch) -> dict[str, Term]:
    return model.train().loss(batch, seed=0, epoch=0)


def _plain(term: Term) -> dict[str, float]:
    return {"sum": float(term.sum.detach()), "count": float(term.count.detach())}


def loss_of(model: ForecastModel, scenes: list[Scene]) -> dict[str, Term]:
    """Loss terms of ``scenes`` as one batch."""
    return _terms(model, collate_scenes(scenes, model.time))


LOSS_CHECKS = (check_terms, check_additive, check_nothing_to_score, check_gradients)
