"""Installed packages against what they ask of one another.

Everything is read from installed metadata; nothing is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from motionpred.cli.checkup.finding import Finding, State

PACKAGE = "motionpred"

# What an extra gives; one that is not listed here is shown without words.
GIVES = {
    "wandb": "logging to Weights & Biases",
    "tensorboard": "logging to TensorBoard",
    "av2": "the publisher's own Argoverse 2 code, for comparisons",
    "video": "MP4 animations",
    "notebook": "running the notebooks",
}
_NOT_FOR_USERS = frozenset({"all", "dev"})

Lookup = Callable[[str], metadata.Distribution]


def package_findings(lookup: Lookup = metadata.distribution) -> list[Finding]:
    """Python, motionpred, its requirements and extras, and conflicts among all of them.

    ``lookup`` gives the distribution of a name, or raises ``PackageNotFoundError``.
    """
    python = f"{sys.version.split()[0]} ({sys.executable})"
    findings = [Finding("python", "ok", python)]
    try:
        own = lookup(PACKAGE)
    except metadata.PackageNotFoundError:
        missing = "the package is not installed, so its requirements are not known"
        return [*findings, Finding(PACKAGE, "problem", missing, "pip install -e . in the checkout")]
    findings.append(Finding(PACKAGE, "ok", own.version))
    base = [r for r in _requirements(own) if _applies(r, "")]
    findings += _required(base, lookup)
    extras = own.metadata.get_all("Provides-Extra") or []
    present: list[Requirement] = []
    for extra in extras:
        if extra in _NOT_FOR_USERS:
            continue
        needed = [r for r in _requirements(own) if _only_for(r, extra)]
        findings.append(_extra(extra, needed, lookup))
        present += needed
    seen: set[str] = set()
    findings += _conflicts(base, lookup, seen, optional=False)
    return findings + _conflicts(present, lookup, seen, optional=True)


def _required(requirements: list[Requirement], lookup: Lookup) -> list[Finding]:
    fine, findings = [], []
    for requirement in requirements:
        fault = _fault(requirement, lookup)
        if fault:
            findings.append(Finding(requirement.name, "problem", fault, _install([requirement])))
        else:
            fine.append(f"{requirement.name} {_version(requirement.name, lookup)}")
    return [Finding("packages", "ok", ", ".join(fine)), *findings]


def _extra(extra: str, needed: list[Requirement], lookup: Lookup) -> Finding:
    gives = GIVES.get(extra, "")
    faults = [fault for r in needed if (fault := _fault(r, lookup))]
    if not faults:
        versions = [f"{r.name} {_version(r.name, lookup)}" for r in needed]
        return Finding(f"extra {extra}", "ok", f"{', '.join(versions)}: {gives}".rstrip(": "))
    remedy = f"pip install '{PACKAGE}[{extra}]'" + (f" for {gives}" if gives else "")
    return Finding(f"extra {extra}", "note", "; ".join(faults), remedy)


def _conflicts(
    requirements: list[Requirement], lookup: Lookup, seen: set[str], *, optional: bool
) -> list[Finding]:
    """What packages that motionpred stands on ask for and do not find, all the way down.

    ``seen`` are those that were looked at already; what ``optional`` ones lack is only a note.
    """
    findings = []
    waiting = [(r.name, frozenset(r.extras)) for r in requirements]
    while waiting:
        name, extras = waiting.pop()
        key = f"{canonicalize_name(name)}{sorted(extras)}"
        if key in seen:
            continue
        seen.add(key)
        try:
            package = lookup(name)
        except metadata.PackageNotFoundError:
            continue  # said by whoever asked for it
        asked = [
            requirement
            for requirement in _requirements(package)
            if any(_applies(requirement, extra) for extra in ("", *extras))
        ]
        waiting += [(r.name, frozenset(r.extras)) for r in asked]
        unmet = [(r, fault) for r in asked if (fault := _fault(r, lookup))]
        if unmet:
            faults = "; ".join(fault for _, fault in unmet)
            remedy = _install([r for r, _ in unmet])
            if optional:
                remedy = f"Parts of {package.name} will not work without: {remedy}"
            state: State = "note" if optional else "problem"
            found = f"{package.name} {package.version}: {faults}"
            findings.append(Finding("conflict", state, found, remedy))
    return findings


def _requirements(package: metadata.Distribution) -> list[Requirement]:
    return list(_parsed(package.requires or []))


def _parsed(lines: list[str]) -> Iterator[Requirement]:
    for line in lines:
        yield Requirement(line)


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def _only_for(requirement: Requirement, extra: str) -> bool:
    own = canonicalize_name(requirement.name) == PACKAGE
    return _applies(requirement, extra) and not _applies(requirement, "") and not own


def _fault(requirement: Requirement, lookup: Lookup) -> str:
    """What is wrong with the installed version; nothing where it fits."""
    version = _version(requirement.name, lookup)
    if version is None:
        return f"{requirement.name} is not installed"
    if requirement.specifier.contains(version, prereleases=True):
        return ""
    return f"{requirement.name} is {version}, not {requirement.specifier}"


def _version(name: str, lookup: Lookup) -> str | None:
    try:
        return lookup(name).version
    except metadata.PackageNotFoundError:
        return None


def _install(requirements: list[Requirement]) -> str:
    return "pip install " + " ".join(f"'{r.name}{r.specifier}'" for r in requirements)
