"""`python -m specdemo bench`: from options to a plan, from results to tables, CSV and JSON.

Knows the command line. Decides nothing about measuring. stdout carries the result, stderr the progress.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from specdemo import cli, machine, prompts
from specdemo.bench import growth, peer_report, peers
from specdemo.bench.measure import DraftCost, Finished, measure, prepare
from specdemo.bench.plan import Choice, Plan, choose
from specdemo.bench.rows import Row
from specdemo.bench.store import Store, dumps, write_csv
from specdemo.bench.summary import summarise
from specdemo.bench.tables import tables
from specdemo.codec import plain
from specdemo.config import DTYPES, MAX_GAMMA, MAX_TEMPERATURE, RunConfig, real, whole
from specdemo.device import Device
from specdemo.models.loader import Pair

Args = argparse.Namespace
Record = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `bench`."""
    parser.add_argument("--pair", default=RunConfig().pair, help="preset, TARGET,DRAFT or TARGET (hub ids or folders)")
    parser.add_argument("--dtype", default="auto", help=", ".join(DTYPES))
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda")
    parser.add_argument("--drafters", default="prompt-lookup,layer-skip", help="A,B; with knobs: A:name=value:…")
    parser.add_argument("--gammas", help="tokens proposed in a round (1,3,5,7; with --peers or --growth 5)")
    parser.add_argument("--temperatures", default="0,1", help="0 is greedy")
    parser.add_argument("--max-new-tokens", default=96)
    parser.add_argument("--prompts", type=Path, metavar="FILE", help="your own: .txt, .csv or .json (default: our set)")
    parser.add_argument("--groups", default="", help=f"only these, of our set: {', '.join(prompts.GROUPS)}")
    parser.add_argument("--limit", help="at most so many prompts of each group")
    parser.add_argument("--repeat", help="times that every prompt is run (1; with --peers 3)")
    parser.add_argument("--seed", default=0)
    parser.add_argument("--raw", action="store_true", help="feed prompts as they are, without the chat template")
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep results here; the same command goes on from them")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write one row per prompt and lane")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout and nothing else")
    parser.add_argument("--peers", action="store_true", help="ours beside transformers' generate; greedy")
    parser.add_argument("--growth", action="store_true", help="what a pass costs behind longer contexts")
    parser.add_argument("--full", action="store_true", help="for --growth: also 8k tokens")
    parser.add_argument("--early-exit", default=10, metavar="K", help="for --peers: layers that draft")


def main(args: Args) -> int:
    """Runs the bench and returns the exit code, 130 if it was interrupted."""
    plan = plan_of(args)
    if args.peers:
        return run_peers(args, plan)
    if args.growth:
        return run_growth(args, plan)
    store = Store(args.out, settings_of(plan)) if args.out else None
    if store:
        store.keep_whole_races(len(plan.lanes()))
    report, whole_bench = Report(plan, store), True
    if len(report.done) < len(plan.races()):
        with cli.session(args) as (device, pair):
            report.environment = report.environment or device.call(lambda: environment(pair))
            whole_bench = run(device, pair, plan, report)
    report.show(args)
    if not whole_bench:
        return cli.complain(report.how_to_resume(args.out), 130)
    return 0


def plan_of(args: Args) -> Plan:
    """The plan that the options ask for, checked before anything is loaded."""
    found = prompts.read_prompts(args.prompts) if args.prompts else prompts.load_prompts()
    limit = None if args.limit is None else whole("limit", args.limit, 1, prompts.MOST)
    return Plan(
        prompts=choose(found, _list(args.groups), limit),
        choices=tuple(Choice.parse(text) for text in _list(args.drafters)),
        gammas=tuple(
            whole("gammas", text, 0, MAX_GAMMA) for text in _list(args.gammas or ("5" if args.peers else "1,3,5,7"))
        ),
        temperatures=tuple(real("temperatures", text, 0.0, MAX_TEMPERATURE) for text in _list(args.temperatures)),
        max_new_tokens=whole("max_new_tokens", args.max_new_tokens, 1, 10**6),
        repeat=whole("repeat", args.repeat or (3 if args.peers else 1), 1, 1000),
        seed=whole("seed", args.seed, 0, 2**53),
        raw=args.raw,
        pair=args.pair,
        dtype=args.dtype,
        device=args.device,
    )


def _gammas(args: Args) -> str:
    return "5" if args.peers or args.growth else "1,3,5,7"


def settings_of(plan: Plan) -> Record:
    """What must be the same for results to be put together: the plan, the processor, its threads and the libraries."""
    here = machine.hardware()
    return plan.settings() | {name: here[name] for name in ("processor", "threads")} | machine.versions()


def environment(pair: Pair) -> Record:
    """Where and with what this is measured. On the device thread, whose thread count matters."""
    return {
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": machine.commit(),
        "dtype": pair.dtype,
        "hardware": machine.hardware(),
        "versions": machine.versions(),
    }


class Report:
    """What has been measured so far, with or without a folder, and how it is shown."""

    def __init__(self, plan: Plan, store: Store | None) -> None:
        self.plan = plan
        self.store = store
        self.rows: tuple[Row, ...] = store.rows if store else ()
        self.costs: tuple[DraftCost, ...] = store.costs if store else ()
        self.environment: Record = store.environment if store else {}

    def begin(self, costs: Sequence[DraftCost]) -> None:
        """Takes in the measured costs."""
        self.costs = tuple(costs)
        if self.store:
            self.store.begin(self.environment, costs)

    def add(self, rows: Sequence[Row]) -> None:
        """Takes in a finished race."""
        self.rows += tuple(rows)
        if self.store:
            self.store.add(rows)

    @property
    def done(self) -> frozenset[tuple[str, float, int]]:
        """Keys of the finished races."""
        return frozenset(row.race for row in self.rows)

    def record(self) -> Record:
        """All of it as one JSON object."""
        total = len(self.plan.races())
        return {
            "complete": len(self.done) == total,
            "races": {"done": len(self.done), "of": total},
            "settings": self.plan.settings(),
            **self.environment,
            "costs": [plain(cost) | {"c": plain(cost.costs.c)} for cost in self.costs],
            "summaries": [plain(asdict(summary)) for summary in summarise(self.rows)],
            "rows": [plain(row) for row in self.rows],
        }

    def show(self, args: Args) -> None:
        """Writes CSV and JSON where asked for, else the tables."""
        if args.csv:
            write_csv(args.csv, self.rows, Row)
        if args.json:
            print(dumps(self.record()))
            return
        print_parts(tables(summarise(self.rows)))

    def how_to_resume(self, folder: Path | None) -> str:
        """What an interrupted user should know."""
        count = f"{len(self.done)} of {len(self.plan.races())} races are done"
        if folder is None:
            return f"Stopped; {count}. With --out DIR the same command could go on from there."
        return f"Stopped; {count} and kept in {folder}. Run the same command again to go on."


def run_peers(args: Args, plan: Plan) -> int:
    """`bench --peers`. An interrupt keeps what was measured and says so."""
    ways = peers.methods(plan.gammas, whole("early_exit", args.early_exit, 1, 512))
    rows: list[peers.PeerRow] = []
    total = 2 * len(ways) * len(plan.prompts) * plan.repeat
    with cli.session(args) as (device, pair):
        about = device.call(lambda: environment(pair))
        try:
            with progress_bar() as bar:
                task = bar.add_task("warming up", total=total)
                with device.stream(lambda: peers.compare(pair, plan, ways)) as found:
                    for row in found:
                        rows.append(row)
                        bar.update(task, advance=1, description=row.method)
        except KeyboardInterrupt:
            pass
    if args.csv:
        write_csv(args.csv, rows, peers.PeerRow)
    summaries = peer_report.summarise(rows)
    if args.json:
        done = {"complete": len(rows) == total, "settings": plan.settings() | {"early_exit": int(args.early_exit)}}
        print(dumps(done | about | {"summaries": plain(summaries), "rows": plain(tuple(rows))}))
    else:
        print_parts(peer_report.tables(summaries))
    return 0 if len(rows) == total else cli.complain(f"Stopped after {len(rows)} of {total} runs.", 130)


def run_growth(args: Args, plan: Plan) -> int:
    """`bench --growth`."""
    contexts = growth.FULL if args.full else growth.CONTEXTS
    widths = tuple(dict.fromkeys((1, *(gamma + 1 for gamma in plan.gammas))))
    with cli.session(args) as (device, pair):
        about = device.call(lambda: environment(pair))
        with device.stream(lambda: growth.grow(pair, plan.prompts[0].text, contexts, widths)) as found:
            rows = tuple(found)
    if args.csv:
        write_csv(args.csv, rows, growth.GrowthRow)
    if args.json:
        print(dumps(about | {"rows": plain(rows)}))
    else:
        print_parts(iter([growth.table(rows)]))
    return 0


def run(device: Device, pair: Pair, plan: Plan, report: Report) -> bool:
    """Measures what is not yet there; False if the user interrupted."""
    races = len(plan.races())
    try:
        with progress_bar() as bar:
            task = bar.add_task("warming up", total=races, completed=len(report.done))
            if not report.costs:
                with device.stream(lambda: prepare(pair, plan)) as measured:
                    report.begin([_told(bar, task, step) for step in measured if isinstance(step, DraftCost)])
            costs = {(cost.drafter, cost.temperature): cost.costs for cost in report.costs}
            done = report.done
            bar.update(task, description="racing")
            with device.stream(lambda: measure(pair, plan, costs, done)) as steps:
                for step in steps:
                    if isinstance(step, Finished):
                        report.add(step.rows)
                        bar.update(task, completed=len(report.done), description=f"after {step.race.prompt.id}")
                    else:
                        bar.update(task, completed=len(report.done) + step.share)
    except KeyboardInterrupt:
        return False
    return True


def _told(bar: Progress, task: Any, cost: DraftCost) -> DraftCost:
    bar.update(task, description=f"cost of {cost.drafter}")
    return cost


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A progress bar on stderr; nothing where stderr is no terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), refresh_per_second=2) as bar:
        yield bar


def print_parts(parts: Iterator[Table | str]) -> None:
    """Tables and sentences on stdout; wide enough where the output is no terminal."""
    console = Console(width=None if sys.stdout.isatty() else 200)
    for part in parts:
        console.print(part, highlight=False, markup=False)


def _list(text: str) -> tuple[str, ...]:
    """`a, b,a` → ("a", "b")."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
