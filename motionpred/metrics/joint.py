"""Displacement over whole scene modes (joint) and over each agent's own modes (marginal).

The two sets have different names, because the second is never larger and looks far too good beside
the first. Shapes: K modes, A agents, N future steps. Metres, float64.

Masks: an ADE runs over the valid steps; an agent without a valid last step has no FDE and no miss
entry; one without any valid step does not count at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionpred.metrics.displacement import ade, fde, missed

Array = npt.NDArray[Any]
Term = tuple[float, float]  # sum, count


def winner(error: Array, valid: Array) -> int | None:
    """The scene mode closest to the truth, the first on a tie; None where there is no truth.

    ``error`` ``[K, A, N]``, ``valid`` ``[A, N]``. Closest by the mean FDE over the agents that have
    one; where no agent has, by the mean ADE.
    """
    if not valid.any():
        return None
    at_end = valid[:, -1]
    if at_end.any():
        return int(fde(error)[:, at_end].mean(axis=1).argmin())
    seen = valid.any(axis=1)
    return int(ade(error, valid)[:, seen].mean(axis=1).argmin())


def own_winners(error: Array, valid: Array) -> Array:
    """Each agent's own closest mode ``[A]``, by its FDE or, without one, its ADE.

    ``error`` ``[K, A, N]``, ``valid`` ``[A, N]``; 0 for an agent without any truth.
    """
    distance = np.where(valid[:, -1], fde(error), ade(error, valid))
    return np.asarray(np.where(valid.any(axis=1), distance, 0.0).argmin(axis=0))


def joint_displacement(error: Array, valid: Array) -> dict[str, Term]:
    """minADE, minFDE (of one scene, count 1) and MR (over its agents) of the best scene mode.

    ``error`` ``[K, A, N]``, ``valid`` ``[A, N]``. The mean over agents is inside the minimum, and
    one mode, that of least mean FDE, serves all three. The count is 0 where there is no truth.
    """
    best = winner(error, valid)
    if best is None:
        return {"minADE": (0.0, 0.0), "minFDE": (0.0, 0.0), "MR": (0.0, 0.0)}
    ades, fdes = _of_agents(error[best], valid)
    return {
        "minADE": (float(ades.mean()), 1.0),
        "minFDE": (float(fdes.mean()), 1.0) if fdes.size else (0.0, 0.0),
        "MR": (float(missed(fdes).sum()), float(fdes.size)),
    }


def marginal_displacement(error: Array, valid: Array) -> dict[str, Term]:
    """The same three with the minimum taken for each agent by itself, summed over agents.

    ``error`` ``[K, A, N]``, ``valid`` ``[A, N]``.
    """
    best = own_winners(error, valid)
    ades, fdes = _of_agents(error[best, np.arange(len(best))], valid)
    return {
        "marginal minADE": (float(ades.sum()), float(ades.size)),
        "marginal minFDE": (float(fdes.sum()), float(fdes.size)),
        "marginal MR": (float(missed(fdes).sum()), float(fdes.size)),
    }


def _of_agents(error: Array, valid: Array) -> tuple[Array, Array]:
    """ADE of the agents with any truth, and FDE of those with truth at the last step."""
    return ade(error, valid)[valid.any(axis=1)], fde(error)[valid[:, -1]]
