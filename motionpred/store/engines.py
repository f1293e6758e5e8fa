"""Where shards are built: on this machine, later on others. An engine only runs ``build_shard``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Protocol

from motionpred.errors import ConfigError
from motionpred.registry import nearest
from motionpred.store.job import BuildJob, ShardCounts, ShardPlan

Watch = Callable[[int, ShardCounts], None]
_ENGINES = {"local": "motionpred.store.local"}


class Engine(Protocol):
    """Builds shards by ``workers`` processes.

    ``watch(position, counts)`` is told of every change to the shard at ``position`` of ``shards``;
    what it raises ends the run: workers stop after the scene that they are at, and the exception
    is passed on. So is the first exception of a worker; a worker that died is a StoreError.
    """

    def __call__(
        self, job: BuildJob, shards: Sequence[ShardPlan], *, workers: int, watch: Watch
    ) -> None:
        """Build every shard of ``shards``."""


def get_engine(name: str) -> Engine:
    """The engine called ``name``.

    Raises:
        ConfigError: there is none; names those that exist.
    """
    if name not in _ENGINES:
        raise ConfigError(
            f"there is no engine {name!r}", field="engine", remedy=nearest(name, _ENGINES)
        )
    engine: Engine = importlib.import_module(_ENGINES[name]).build
    return engine
