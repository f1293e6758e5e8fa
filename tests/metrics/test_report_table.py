"""A report as rows and as JSON."""

from __future__ import annotations

import json
import math

import pytest

from motionpred.metrics import Figure, Report, report_to_json, table
from motionpred.metrics.report_table import COLUMNS, unit

REPORT = Report(
    protocol="argoverse2-multi",
    figures=(
        Figure("avgMinFDE", 4.715, 1, 6.0, "focal and scored", 5, "scenes"),
        Figure("actorMR", math.nan, 6, 6.0, "focal and scored", 0, "agents"),
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


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("minADE", "m"),
        ("marginal minFDE", "m"),
        ("brier-minFDE", "m + 1"),
        ("avgBrierMinFDE", "m + 1"),
        ("MR", "share"),
        ("marginal ECE", "share"),
        ("off-road", "share"),
        ("NLL", "nats"),
    ],
)
def test_units(metric, expected):
    assert unit(metric) == expected
