"""`python -m specdemo bench`: from options to a plan, from results to tables, CSV and JSON.

Knows the command line. Decides nothing about measuring. stdout carries the result, stderr the progress.
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.progress import Progress

from specdemo import cli
from specdemo.bench import headline, modes
from specdemo.bench.about import Record, environment, settings_of
from specdemo.bench.measure import DraftCost, Finished, measure, prepare
from specdemo.bench.options import Args, add_arguments, plan_of
from specdemo.bench.plan import Plan
from specdemo.bench.rows import Row
from specdemo.bench.screen import print_parts, progress_bar
from specdemo.bench.store import Store, dumps, write_csv
from specdemo.bench.summary import summarise
from specdemo.bench.tables import tables
from specdemo.codec import plain
from specdemo.device import Device
from specdemo.models.loader import Pair

__all__ = ["add_arguments", "main"]


def main(args: Args) -> int:
    """Runs the bench and returns the exit code, 130 if it was interrupted."""
    plan = plan_of(args)
    if args.peers:
        return modes.run_peers(args, plan)
    if args.growth:
        return modes.run_growth(args, plan)
    if args.shapes:
        return modes.run_shapes(args, plan)
    store = Store(args.out, settings_of(plan)) if args.out else None
    if store:
        store.keep_whole_races(len(plan.lanes()))
    report, whole_bench = Report(plan, store), True
    if len(report.done) < len(plan.races()):
        with cli.session(args) as (device, pair):
            report.environment = report.environment or device.call(lambda: environment(pair.dtype))
            whole_bench = run(device, pair, plan, report)
    report.show(args)
    if not whole_bench:
        return cli.complain(report.how_to_resume(args.out), 130)
    return 0


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
        figures = headline.headlines(self.rows) if args.headline else ()
        if args.json:
            print(dumps(self.record() | ({"headline": plain(figures)} if args.headline else {})))
        elif args.headline:
            print_parts(headline.tables(figures, self.plan, self.environment))
        else:
            print_parts(tables(summarise(self.rows)))

    def how_to_resume(self, folder: Path | None) -> str:
        """What an interrupted user should know."""
        count = f"{len(self.done)} of {len(self.plan.races())} races are done"
        if folder is None:
            return f"Stopped; {count}. With --out DIR the same command could go on from there."
        return f"Stopped; {count} and kept in {folder}. Run the same command again to go on."


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
