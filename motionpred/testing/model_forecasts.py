"""What must hold for the forecasts of any model; one function a rule, each takes the model.

Tolerances are those of a float32 model on scenes of some hundred metres: 5 mm for a rigid motion,
1 mm for everything else, a tenth of it on average; 1e-9 m in float64.
"""

from __future__ import annotations

import copy
import math
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from motionpred.graph import BatchOptions, SceneBatch, collate_scenes
from motionpred.models import ForecastModel, load_bundle, save_bundle
from motionpred.scene import AgentType, MapKind, Scene
from motionpred.testing.batch_changes import (
    doubled,
    move_points,
    moved_batch,
    padded,
    sealed,
    with_placeholder_values,
)
from motionpred.testing.forecast_runs import (
    MODES,
    Run,
    Tolerance,
    check_identical,
    check_same,
    run,
    runs_of,
)
from motionpred.testing.scene_changes import (
    moved,
    permuted,
    with_other_future,
    with_placeholders,
    without_future,
    without_map,
)
from motionpred.testing.scenes import make_map
from motionpred.testing.traffic import lone_car, traffic_scene

_MOTION = Tolerance(most=5e-3, mean=5e-4)
_OTHER = Tolerance(most=1e-3, mean=1e-4)
_EXACT = Tolerance(most=1e-9, mean=1e-9)
_PREDICTED = ("walker", "idle", "parked", "late", "young", "gap")  # odd agents with a forecast


def check_shapes(model: ForecastModel) -> None:
    """Shapes, finite values, positive scales, sorted joint probabilities that sum to 1."""
    scene = traffic_scene(model.time)
    batch = collate_scenes([scene, lone_car(model.time, 8.0)], model.time)
    forecast = model.eval().forecast(batch, modes=MODES, seed=0)
    shape = tuple(forecast.position.shape)
    modes = shape[1]
    agents, steps = batch.predict.shape[1], model.time.future
    assert shape == (2, modes, agents, steps, 2), f"position has shape {shape}"
    assert 1 <= modes <= MODES, f"{modes} modes where at most {MODES} were asked for"
    wanted = {
        "probability": (2, modes) if forecast.joint else (2, agents, modes),
        "heading": (2, modes, agents, steps),
        "scale": (2, modes, agents, steps, 2),
    }
    for name, want in wanted.items():
        values = getattr(forecast, name)
        assert values is None or tuple(values.shape) == want, f"{name} has shape {values.shape}"
    for one in runs_of(batch, forecast):
        _check_values(one)


def _check_values(one: Run) -> None:
    for name in ("position", "probability", "heading", "scale"):
        values = getattr(one, name)
        assert values is None or np.isfinite(values).all(), f"{name} is not finite"
    assert one.scale is None or (one.scale > 0).all(), "a scale is not positive"
    total = one.probability.sum(axis=-1)
    assert np.allclose(total, 1.0, atol=1e-5), f"probabilities sum to {total}"
    assert (one.probability >= 0).all(), "a probability is negative"
    if one.joint:
        falling = (np.diff(one.probability) <= 0).all()
        assert falling, f"joint modes are not sorted by probability: {one.probability}"


def check_predicted_agents(model: ForecastModel) -> None:
    """A mode covers agents valid at ``now``, STATIC ones only if scored; others are context."""
    (one,) = run(model, [traffic_scene(model.time)])
    cars = [name for name in one.track_id if name.startswith("car")]
    assert sorted({*one.track_id} - {*cars}) == sorted(_PREDICTED), f"predicted {one.track_id}"


def check_rigid_motion(model: ForecastModel) -> None:
    """A scene that is turned and 5 km away has the same forecast, turned and 5 km away."""
    scene = traffic_scene(model.time)
    (here,) = run(model, [scene])
    for angle, dx, dy in ((0.4, 0.0, 0.0), (math.pi, 3000.0, 4000.0), (-2.0, -5000.0, 0.0)):
        (there,) = run(model, [moved(scene, angle, dx, dy)])
        name = f"turned by {angle:.1f} rad and moved by ({dx:g}, {dy:g}) m"
        check_same(name, _moved_run(here, angle, dx, dy), there, _MOTION)


def check_rigid_motion_in_float64(model: ForecastModel) -> None:
    """The same to rounding after ``model.double()``, also where the scene is off its origin."""
    exact = copy.deepcopy(model).double().eval()
    batch = doubled(collate_scenes([traffic_scene(model.time)], model.time))
    (here,) = _run_batch(exact, batch)
    for angle, dx, dy in ((0.4, 0.0, 0.0), (-2.5, 300.0, -400.0)):
        (there,) = _run_batch(exact, moved_batch(batch, angle, dx, dy))
        want = _moved_run(here, angle, dx, dy, about=batch.origin[0].numpy())
        check_same("float64, turned and moved", want, there, _EXACT)


def _run_batch(model: ForecastModel, batch: SceneBatch) -> list[Run]:
    forecast = model.forecast(batch, modes=MODES, seed=0)
    assert forecast.position.dtype == torch.float64, "a float64 model returns float32"
    return runs_of(batch, forecast)


def _moved_run(one: Run, angle: float, dx: float, dy: float, about: object = (0.0, 0.0)) -> Run:
    origin = torch.as_tensor(np.asarray(about, np.float64))
    position = move_points(torch.from_numpy(one.position) - origin, angle, dx, dy) + origin
    heading = None if one.heading is None else one.heading + angle
    return replace(one, position=position.numpy(), heading=heading)


def check_order(model: ForecastModel) -> None:
    """The order of agents and map polylines does not matter."""
    scene = traffic_scene(model.time)
    (one,), (other,) = run(model, [scene]), run(model, [permuted(scene)])
    check_same("agents and map in another order", one, other, _OTHER)


def check_padding(model: ForecastModel) -> None:
    """More padding changes nothing; what stands in padding or invalid states matters to no bit."""
    scene = traffic_scene(model.time)
    (one,) = run(model, [scene])
    (more,) = run(model, [scene], change=lambda batch: padded(batch, 16, 64))
    check_same("more padding", one, more, _OTHER)
    (other,) = run(model, [scene], change=lambda batch: with_placeholder_values(batch, 1e6))
    check_identical("1e6 in invalid states of the batch", one, other)
    (other,) = run(model, [with_placeholders(scene, 1e6)])
    check_identical("1e6 in invalid states of the scene", one, other)


def check_batch_mates(model: ForecastModel) -> None:
    """A scene alone, behind a bigger one, and behind one without a map: three equal forecasts."""
    scene = traffic_scene(model.time)
    big = traffic_scene(model.time, "big", seed=1, cars=20)
    bare = without_map(traffic_scene(model.time, "bare", seed=2))
    exact = copy.deepcopy(model).double().eval()
    (alone,) = run(model, [scene])
    (exact_alone,) = run(exact, [scene], change=doubled)
    for name, scenes, row in (
        ("before a bigger scene", [scene, big], 0),
        ("behind a scene without a map", [bare, scene], 1),
    ):
        check_same(name, alone, run(model, scenes)[row], _OTHER)
        check_same(name, exact_alone, run(exact, scenes, change=doubled)[row], _EXACT)


def check_far_map(model: ForecastModel) -> None:
    """A map that is all out of the radius is as good as none."""
    scene = traffic_scene(model.time)
    x, y = scene.tracks.position[0, scene.now, :2]
    lane = [(x + 900.0 + 5 * i, y) for i in range(20)]
    far = replace(scene, map=make_map([(MapKind.LANE, lane)]))
    options = BatchOptions(map_radius=150.0)
    (none,) = run(model, [without_map(scene)], options=options)
    _check_values(none)
    (one,) = run(model, [far], options=options)
    check_same("a lane 900 m away", none, one, _OTHER)


def check_no_leak(model: ForecastModel) -> None:
    """Nothing after ``now`` reaches a forecast, by any way."""
    scene = traffic_scene(model.time)
    (one,) = run(model, [scene])
    check_identical("target sealed", one, *run(model, [scene], change=sealed))
    check_identical("another future", one, *run(model, [with_other_future(scene)]))
    check_identical("no future", one, *run(model, [without_future(scene)]))
    check_identical("cut after now", one, *run(model, [scene.observed()]))


def check_odd_scenes(model: ForecastModel) -> None:
    """One agent, no map, nobody moves, nobody to predict: finite forecasts of the usual shape."""
    time = model.time
    (lone,) = run(model, [lone_car(time, 10.0)])
    _check_values(lone)
    assert lone.position.shape[1:] == (1, time.future, 2), f"one agent: {lone.position.shape}"
    (still,) = run(model, [lone_car(time, 0.0)])
    _check_values(still)
    scene = traffic_scene(time)
    kind = np.full(len(scene.tracks), AgentType.STATIC, np.int8)
    nobody = replace(scene, tracks=replace(scene.tracks, type=kind))
    for one in run(model, [nobody, standing(scene)]):
        _check_values(one)


def standing(scene: Scene) -> Scene:
    """The scene with every agent where it is at ``now``, all the time."""
    tracks = scene.tracks
    start = tracks.position[:, scene.now, None]
    position = np.where(tracks.valid[..., None], start, 0.0)
    return replace(
        scene, tracks=replace(tracks, position=position, velocity=np.zeros_like(tracks.velocity))
    )


def check_modes(model: ForecastModel) -> None:
    """Asking for one mode gives the first of many, with all the probability."""
    scene = traffic_scene(model.time)
    (many,) = run(model, [scene])
    if not many.joint:
        return
    (one,) = run(model, [scene], modes=1)
    assert one.position.shape[0] == 1, f"{one.position.shape[0]} modes where one was asked for"
    assert np.array_equal(one.position[0], many.position[0]), "one mode is not the first of many"
    assert np.allclose(one.probability, 1.0), f"the one mode has probability {one.probability}"


def check_repeatable(model: ForecastModel) -> None:
    """The same seed gives the same forecast, whatever torch drew in between."""
    scene = traffic_scene(model.time)
    (first,) = run(model, [scene], seed=3)
    with torch.random.fork_rng(devices=[]):
        torch.rand(7)
        (second,) = run(model, [scene], seed=3)
    check_identical("forecast again", first, second)


def check_bundle(model: ForecastModel) -> None:
    """A bundle gives back the same model, bit for bit."""
    scene = traffic_scene(model.time)
    with tempfile.TemporaryDirectory() as folder:
        loaded = load_bundle(save_bundle(Path(folder) / "bundle", model))
    check_identical("from its bundle", *run(model, [scene]), *run(loaded.model, [scene]))


FORECAST_CHECKS = (
    check_shapes,
    check_predicted_agents,
    check_rigid_motion,
    check_rigid_motion_in_float64,
    check_order,
    check_padding,
    check_batch_mates,
    check_far_map,
    check_no_leak,
    check_odd_scenes,
    check_modes,
    check_repeatable,
    check_bundle,
)
