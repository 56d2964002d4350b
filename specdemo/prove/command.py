"""The command `prove`: every rule against every test, as a table.

Knows the matrix and how to print it. Does not know how a test works.
"""

import argparse
import json
from typing import Any

from rich.console import Console
from rich.table import Table

from specdemo.config import RULES, whole
from specdemo.core import rules
from specdemo.prove.matrix import DECISIONS, TESTS, Row, row

MEANING = {
    "a": "greedy text equals the target's own",
    "b": f"{DECISIONS:,} sampled decisions agree with p",
    "c": "exact joint law of three tokens is the target's",
    "d": "no fewer tokens a round than rejection sampling, from the same draft and coins",
}


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Which rules, and how they are shown."""
    command.add_argument("--rule", action="append", default=[], metavar="ID", help=f"{', '.join(RULES)} (default: all)")
    command.add_argument("--seed", default=1, help="of the worlds and of every draw")
    command.add_argument("--json", action="store_true", help="one JSON object on stdout and nothing else")


def main(args: argparse.Namespace) -> int:
    """Runs the tests. 0 if every rule does as its badge says, else 1."""
    chosen = [rules.entry(id) for id in args.rule] or list(rules.entries())
    seed = whole("seed", args.seed, 0, 2**31)
    found = [row(rule, seed=seed) for rule in chosen]
    if args.json:
        print(json.dumps({"rules": [report(one) for one in found]}, allow_nan=False, ensure_ascii=False))
    else:
        console = Console()
        console.print(table(found))
        for test, meaning in MEANING.items():
            console.print(f"{test}  {meaning}", style="dim", highlight=False)
    return 0 if all(one.as_promised() for one in found) else 1


def table(found: list[Row]) -> Table:
    """A line for every rule: what each test measured and whether it passed."""
    drawn = Table(box=None, pad_edge=False)
    for name in ("rule", "badge", *(f"({test})" for test in TESTS), "as the badge says"):
        drawn.add_column(name)
    for one in found:
        measured = (
            f"{one.greedy.same}/{one.greedy.of}",
            f"TV {one.sampled.distance:.3f} (≤ {one.sampled.high:.3f}), p {one.sampled.p_value:.2g}",
            f"TV {one.joint.distance:.1g}",
            f"τ {one.waste.tau:.2f}, {one.waste.correct:.2f}; {one.waste.exact:+.3f}",
        )
        cells = (f"{'✓' if ok else '✗'} {text}" for ok, text in zip(one.passed().values(), measured, strict=True))
        drawn.add_row(one.rule.id, one.rule.badge, *cells, "yes" if one.as_promised() else "NO")
    return drawn


def report(one: Row) -> dict[str, Any]:
    """The JSON of one rule."""
    return {
        "rule": one.rule.id,
        "badge": one.rule.badge,
        "side": one.rule.side,
        "passed": one.passed(),
        "as_promised": one.as_promised(),
        "greedy": {"same": one.greedy.same, "of": one.greedy.of},
        "sampled": {"n": one.sampled.n, "distance": one.sampled.distance, "p_value": one.sampled.p_value},
        "joint": {"length": one.joint.length, "distance": one.joint.distance},
        "waste": {"tau": one.waste.tau, "correct": one.waste.correct, "exact": one.waste.exact},
    }
