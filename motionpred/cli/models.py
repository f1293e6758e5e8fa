"""``motionpred models``: what can be named in the other commands."""

from __future__ import annotations

from motionpred.cli.console import table, then

NAME = "models"


def command() -> None:
    """List models, dataset adapters and protocols, in tree and plugged in."""
    from motionpred.datasets import adapter_names, get_adapter
    from motionpred.metrics import get_protocol, protocol_names
    from motionpred.models import get_model, model_names

    rows = []
    for name in model_names():
        model = get_model(name)
        trained = "trainable" if model.trainable else "ready to use"
        rows.append((name, trained, ", ".join(sorted(model.capabilities)) or "-", _first(model)))
    table(("model", "kind", "can also", "what it is"), rows)
    table(
        ("dataset", "clock", "protocols"),
        [
            (
                name,
                f"{adapter.time.history} + {adapter.time.future} steps of {adapter.time.dt:g} s",
                ", ".join(adapter.protocols),
            )
            for name in adapter_names()
            for adapter in [get_adapter(name)]
        ],
    )
    table(
        ("protocol", "K", "what it is"),
        [
            (name, str(get_protocol(name).modes), _first(get_protocol(name)))
            for name in protocol_names()
        ],
    )
    then("prepare", "DATASET", "ROOT", "STORE")
    then("evaluate", "STORE", "MODEL")


def _first(kind: type) -> str:
    return (kind.__doc__ or "").strip().split("\n")[0]
