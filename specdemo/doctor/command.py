"""`python -m specdemo doctor`: all checks, one line each; exit code 1 if one of them is bad.

Knows the checks and their order. Decides nothing about any of them.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict

from rich.console import Console

from specdemo import __version__
from specdemo.config import whole
from specdemo.doctor import processor, software, surroundings
from specdemo.doctor.finding import Finding, worst

STYLES = {"ok": "green", "warn": "yellow", "bad": "bold red"}
CLOSING = {
    "ok": "All is well.",
    "warn": "It will run; see the lines marked warn.",
    "bad": "It will not run well: see the lines marked bad.",
}


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The options of `doctor`."""
    command.add_argument("--port", help="the port that the page shall listen on")
    command.add_argument("--json", action="store_true", help="one JSON object on stdout and nothing else")


def main(args: argparse.Namespace) -> int:
    """Checks everything and returns 1 if something is bad, else 0."""
    console = Console(quiet=args.json, highlight=False)
    port = None if args.port is None else whole("--port", args.port, 1, 65535)
    findings = []
    for finding in checked(port):
        findings.append(finding)
        show(console, finding)
    verdict = worst(findings)
    console.print(f"\n{CLOSING[verdict]}")
    if args.json:
        report = {"version": __version__, "verdict": verdict, "findings": [asdict(finding) for finding in findings]}
        print(json.dumps(report, ensure_ascii=False, indent=1))
    return 1 if verdict == "bad" else 0


def checked(port: int | None) -> Iterator[Finding]:
    """Every check in turn. The two that wait for a network are asked first and read last."""
    hub = surroundings.later(surroundings.ask_hub, surroundings.HUB_S)
    pip = surroundings.later(surroundings.ask_pip, surroundings.PIP_S)
    here = surroundings.default_model()
    checks: tuple[Callable[[], Finding], ...] = (
        software.python,
        software.packages,
        processor.device,
        processor.threads,
        processor.bfloat16,
        processor.packing,
        processor.pages,
        processor.exactness,
        surroundings.cache,
        lambda: surroundings.model(here),
        lambda: surroundings.disk(here),
        surroundings.memory,
        lambda: surroundings.port(port),
        lambda: surroundings.hub(hub),
        lambda: surroundings.pypi(pip, here),
    )
    for check in checks:
        yield check()


def show(console: Console, finding: Finding) -> None:
    """One line, and one more for what to do."""
    mark = f"[{STYLES[finding.verdict]}]{finding.verdict:<4}[/]"
    console.print(f"{mark}  {finding.name:<10} ", end="")
    console.print(finding.says, markup=False, soft_wrap=True)
    if finding.do:
        console.print(f"{'':<17}→ {finding.do}", markup=False, soft_wrap=True)
