"""Every count has words, and is said once."""

from __future__ import annotations

from collections import Counter

from motionpred.graph import BatchOptions
from motionpred.graph.arrays import DROPPED
from motionpred.inference import describe, load
from motionpred.inference.counts import WORDS
from motionpred.testing import crossing_scene


def test_every_name_that_a_batch_counts_has_words():
    assert set(DROPPED) <= set(WORDS)


def test_a_count_becomes_one_line_and_nothing_is_said_of_zero():
    counts = {"agents": 0, "map_pieces_far": 12, "scored_absent_at_now": 3}
    assert describe(counts) == [
        "3 scored agents absent at now (not forecast)",
        "12 map pieces too far from every forecast agent (no input)",
    ]
    assert describe({}) == []


def test_a_name_of_a_plug_in_is_said_as_it_is():
    assert describe(Counter(lost_wheels=2, agents=1))[1] == "2 lost wheels"


def test_the_counts_of_many_scenes_are_one_line_each():
    predictor = load("constant-velocity")
    predictor.options = BatchOptions(max_agents=3)
    for seed in range(3):
        predictor.predict(crossing_scene(f"s{seed}", seed=seed))
    lines = describe(predictor.skipped + predictor.dropped)
    cut = predictor.dropped["agents"]
    assert cut > 3
    assert lines.count(f"{cut} agents beyond the cap on agents (neither input nor forecast)") == 1
    assert len(lines) == len(predictor.skipped + predictor.dropped)
