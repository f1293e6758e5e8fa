"""``motionpred doctor``: is everything there that motionpred needs, and what to do if not."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motionpred.cli.console import say, table, then, wrote
from motionpred.cli.json_file import save_json
from motionpred.errors import ConfigError

if TYPE_CHECKING:
    from motionpred.cli.checkup.finding import Finding

NAME = "doctor"


def command(
    out: Annotated[Path | None, typer.Option(help="Also write the findings as JSON.")] = None,
) -> None:
    """Look at packages, GPU, memory, disk and threads; say what to do. Exit code 1: a problem."""
    from motionpred.cli.checkup.machine import machine_facts

    facts = machine_facts()
    findings = check()
    say(f"{facts['processor']}, {facts['cores']} cores, {facts['system']}")
    table(("", "looked at", "found"), [(f.state, f.subject, f.found) for f in findings])
    for finding in findings:
        if finding.remedy:
            say(f"{finding.state}, {finding.subject}: {finding.remedy}")
    if out is not None:
        save_json(out, {"machine": facts, "findings": [asdict(f) for f in findings]})
        wrote(out, "findings")
    problems = sum(finding.state == "problem" for finding in findings)
    if problems:
        say(f"{problems} {'problem' if problems == 1 else 'problems'}: see above")
        raise typer.Exit(1)
    say("nothing stands in the way")
    then("motionpred bench", "motionpred demo")


def check() -> list[Finding]:
    """Everything that the doctor looks at."""
    from motionpred.cli.checkup import imports, machine
    from motionpred.cli.checkup.finding import Finding
    from motionpred.cli.checkup.packages import package_findings
    from motionpred.config_dir import config_dir

    findings = package_findings()
    try:
        findings.append(Finding("configs", "ok", str(config_dir())))
    except ConfigError as error:
        findings.append(Finding("configs", "problem", error.message, error.remedy or ""))
    found = imports.probe()
    here = Path.cwd()
    places = {
        "temporary files": (Path(tempfile.gettempdir()), "Set TMPDIR to a folder of your own"),
        "this folder": (here, "Change to a folder of your own: results are written here"),
    }
    if isinstance(found, str):
        remedy = "Install torch, pytorch-lightning and torch-geometric again, in a new environment"
        findings.append(Finding("imports", "problem", found, remedy))
    else:
        findings += imports.import_findings(found)
        torch = found["torch"]
        if torch:
            findings.append(imports.accelerator_finding(torch, imports.gpu_in_machine()))
            findings.append(machine.thread_finding(torch["threads"], machine.usable_cores()))
        if found["matplotlib_cache"]:
            cache = Path(found["matplotlib_cache"])
            places["cache of fonts"] = (cache, "Set MPLCONFIGDIR to a folder of your own")
    findings.append(machine.memory_finding(machine.memory_bytes()))
    shared = machine.shared_memory_finding()
    findings += [shared] if shared else []
    findings.append(machine.disk_finding(here))
    return [*findings, *machine.writable_findings(places)]
