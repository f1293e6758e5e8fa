"""Words for what a forecast leaves out: one sentence for each name that batches count."""

from __future__ import annotations

from collections.abc import Mapping

# Names of SCORED agents without a forecast (see Predictor.skipped), and of graph.DROPPED.
WORDS = {
    "scored_absent_at_now": "scored agents absent at now (not forecast)",
    "scored_not_eligible": "scored agents left out by the model's batch options (not forecast)",
    "agents": "agents beyond the cap on agents (neither input nor forecast)",
    "agents_missing_at_now": "agents absent at now (input, not forecast)",
    "agents_below_min_history": "agents with too short a history (input, not forecast)",
    "map_pieces": "map pieces beyond the cap on map pieces (no input)",
    "map_pieces_far": "map pieces too far from every forecast agent (no input)",
    "scenes_without_lanes": "scenes with no lane in reach (forecast from the agents alone)",
    "scenes_without_future": "scenes without a future (nothing to learn from)",
    "history_padded": "steps of history that a recording does not have (taken as unknown)",
    "history_cropped": "steps of history older than the model looks back (no input)",
    "scenes_resampled": "scenes of another clock (resampled to the model's)",
    "future_cropped": "recorded future steps beyond the model's horizon (no target)",
}


def describe(counts: Mapping[str, int]) -> list[str]:
    """One line for each count above 0, such as ``3 scored agents absent at now (not forecast)``.

    In the order of the table; names that it does not know, those of a plug-in, follow as they are.
    """
    known = [name for name in WORDS if name in counts]
    names = known + sorted(name for name in counts if name not in WORDS)
    return [
        f"{counts[name]} {WORDS.get(name) or name.replace('_', ' ')}"
        for name in names
        if counts[name] > 0
    ]
