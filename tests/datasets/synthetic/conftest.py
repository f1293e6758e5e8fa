"""Some synthetic scenes, made once, and their true traffic."""

from __future__ import annotations

import pytest

from motionpred.datasets.synthetic import scenes


@pytest.fixture(scope="session")
def made():
    """The first scenes of a seed that no data set uses."""
    return list(scenes(77, 14))
