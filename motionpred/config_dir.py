"""Where the configuration files are."""

from __future__ import annotations

from pathlib import Path

from motionpred.errors import ConfigError

_ENTRY = "train.yaml"


def config_dir() -> Path:
    """The folder ``configs/``: the copy inside an installed package, or the checkout's.

    Raises:
        ConfigError: there is neither.
    """
    package = Path(__file__).resolve().parent
    # The installed copy comes first: beside it, in site-packages, "configs" is somebody else's.
    places = [package / "configs", package.parent / "configs"]
    for place in places:
        if (place / _ENTRY).is_file():
            return place
    raise ConfigError(
        f"the configuration files are missing: no {_ENTRY} in {' or '.join(map(str, places))}",
        remedy="Install motionpred again, or give settings from Python (motionpred.training)",
    )
