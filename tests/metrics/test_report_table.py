"""A report as rows and as JSON."""

from __future__ import annotations

import json
import math

import pytest

from motionpred.errors import ConfigError
from motionpred.inference import load
from motionpred.metrics import (
    Figure,
    Report,
    evaluate,
    get_protocol,
    protocol_names,
    report_to_json,
    table,
)
from motionpred.metrics.report_table import COLUMNS
from motionpred.testing import crossing_scene

REPORT = Report(
    protocol="argoverse2-multi",
    figures=(
        Figure("avgMinFDE", 4.715, 1, 6.0, "focal and scored", 5, "scenes", "m"),
        Figure("actorMR", math.nan, 6, 6.0, "focal and scored", 0, "agents", "share"),
    ),
    scenes=5,
    without_truth=1,
    notes={"incomplete_targets": 2},
)


def test_a_row_carries_everything_that_a_figure_needs():
    rows = table(REPORT)
    assert [tuple(row) for row in rows] == [COLUMNS] * 2
    assert rows[0] == {
        "metric": "avgMinFDE",
        "value": 4.715,
        "unit": "m",
        "k": 1,
        "horizon": 6.0,
        "agents": "focal and scored",
        "n": 5,
        "over": "scenes",
    }


def test_json_has_null_where_nothing_was_counted_and_is_strict():
    plain = report_to_json(REPORT)
    assert plain["figures"][1]["value"] is None
    assert plain["without_truth"] == 1
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


def test_every_figure_of_a_protocol_has_the_unit_of_its_metric():
    scene = crossing_scene()
    predictor = load("constant-velocity")
    found = {}
    for name in protocol_names():
        protocol = get_protocol(name)()
        forecast = predictor.predict(scene, modes=protocol.modes)
        report = evaluate(protocol, [(scene, forecast)])
        found |= {row["metric"]: row["unit"] for row in table(report)}
    expected = {
        "m": {"minADE", "minFDE", "avgMinADE", "avgMinFDE"},
        "m + 1": {"brier-minADE", "brier-minFDE", "avgBrierMinFDE"},
        "share": {"MR", "actorMR", "actorCR", "overlap", "off-road", "kinematic", "ECE"},
    }
    for unit, metrics in expected.items():
        assert {name for name, has in found.items() if has == unit} >= metrics
    assert found["marginal minFDE"] == "m"
    assert found["marginal ECE"] == "share"
    assert set(found.values()) == set(expected)


def report_of(*figures):
    made = [Figure(name, value, k, 6.0, "scored", 1, "scenes", "m") for name, k, value in figures]
    return Report("made", tuple(made), scenes=1)


def test_the_leading_figure_is_the_headline_at_the_largest_k():
    multi = get_protocol("argoverse2-multi")()
    report = report_of(("avgMinFDE", 1, 5.0), ("avgMinFDE", 6, 2.0), ("avgMinADE", 6, 1.0))
    assert multi.leading(report) == report.figures[1]
    assert multi.headline == ("avgMinFDE", True)
    with pytest.raises(ConfigError, match="no figure 'avgMinFDE'"):
        multi.leading(report_of(("minFDE", 6, 1.0)))


def test_a_marginal_forecast_is_led_by_its_marginal_figure():
    joint = get_protocol("joint")()
    both = report_of(("marginal minFDE", 6, 1.0), ("minFDE", 6, 2.0))
    assert joint.leading(both).metric == "minFDE"
    assert joint.leading(report_of(("marginal minFDE", 6, 1.0))).metric == "marginal minFDE"
