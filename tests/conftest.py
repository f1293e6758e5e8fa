"""One thread per test process, and where the real scenes are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")


# A loaded machine is slow, not wrong: no test may depend on the wall clock.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The unpacked real scenes (``MOTIONPRED_TEST_DATA``); the test is skipped without them."""
    root = os.environ.get("MOTIONPRED_TEST_DATA")
    if not root:
        pytest.skip("needs real scenes: set MOTIONPRED_TEST_DATA to the unpacked folder")
    return Path(root)


@pytest.fixture(scope="session")
def argoverse2_root(real_data: Path) -> Path:
    """Real Argoverse 2 scenarios."""
    root = real_data / "argoverse2"
    if not root.is_dir():
        pytest.skip(f"needs Argoverse 2 scenarios in {root}")
    return root
