"""The card of a trained model: what it was made from, how, and how good it is."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Card:
    """Provenance that travels with the weights. Empty strings mean that nobody said."""

    data: str = ""  # data set, version, split and number of scenes that it was trained on
    terms: str = ""  # licence or terms of that data
    command: str = ""  # what made it
    seed: int = 0
    duration: str = ""  # training time and on what machine
    split: str = ""  # the named split, with the number of scenes, that the figures are of
    figures: dict[str, float] = field(default_factory=dict)  # protocol, metric and K in the name
    limits: str = ""  # where it should not be used

    def to_markdown(self, title: str) -> str:
        """A page for people (``card.md``)."""
        rows = {
            "Data": self.data,
            "Terms": self.terms,
            "Command": f"`{self.command}`" if self.command else "",
            "Seed": str(self.seed),
            "Training time": self.duration,
        }
        lines = [f"# {title}", ""]
        lines += [f"- {name}: {value or 'not stated'}" for name, value in rows.items()]
        lines += ["", f"## Figures on {self.split or 'a split that is not stated'}", ""]
        if self.figures:
            lines += ["| figure | value |", "|---|---|"]
            lines += [f"| {name} | {value:.6g} |" for name, value in self.figures.items()]
        else:
            lines += ["None."]
        return "\n".join([*lines, "", "## Limits", "", self.limits or "Not stated.", ""])
