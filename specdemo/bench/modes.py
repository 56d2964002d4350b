"""The benches that are no races of drafters: peers, growth, shapes. From options to results, CSV and JSON.

Knows the command line. Decides nothing about measuring. An interrupt keeps what was measured and says so.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table

from specdemo import cli
from specdemo.bench import concurrent, dialled, growth, memory, peer_methods, peer_report, peers, shapes
from specdemo.bench.about import Record, environment, machine_line
from specdemo.bench.floor import measure_floor
from specdemo.bench.options import Args
from specdemo.bench.plan import Plan
from specdemo.bench.screen import gather, print_parts
from specdemo.bench.store import dumps, write_csv
from specdemo.codec import plain
from specdemo.config import real, whole
from specdemo.device import Device
from specdemo.machine import limit_threads
from specdemo.models.loader import choose_device, choose_dtype


def run_peers(args: Args, plan: Plan) -> int:
    """`bench --peers`."""
    layers = whole("early_exit", args.early_exit, 1, 512)
    with cli.session(args) as (device, pair):
        about = device.call(lambda: environment(pair.dtype))
        ways = peer_methods.methods_for(pair, plan.gammas, layers)
        floor = device.call(lambda: measure_floor(pair.model, pair.clock))
        total = 2 * len(ways) * len(plan.prompts) * plan.repeat
        with device.stream(lambda: peers.compare(pair, plan, ways)) as found:
            rows, complete = gather(found, lambda row: row.method, total)
    summaries = peer_report.summarise(rows)
    shares = peer_report.floor_shares(summaries, floor)
    settings = {"settings": plan.settings() | {"early_exit": layers}}
    measured = {"floor": plain(floor) | {"shares": plain(shares)}, "summaries": plain(summaries), "rows": plain(rows)}
    parts = (*peer_report.tables(summaries), *peer_report.floor_lines(floor, shares), *peer_report.partings(rows))
    return _show(args, complete, settings | about | measured, (machine_line(about), *parts), rows, peers.PeerRow)


def run_growth(args: Args, plan: Plan) -> int:
    """`bench --growth`."""
    wanted = growth.FULL if args.full else growth.CONTEXTS
    widths = tuple(dict.fromkeys((1, *(gamma + 1 for gamma in plan.gammas))))
    rows: tuple[growth.GrowthRow, ...] = ()
    crowds: tuple[concurrent.ConcurrentRow, ...] = ()
    kept: tuple[memory.Held, ...] = ()
    with cli.session(args) as (device, pair):
        about = device.call(lambda: environment(pair.dtype))
        contexts = growth.fitting(wanted, widths, pair.limit)
        with device.stream(lambda: growth.grow(pair, plan.prompts[0].text, contexts, widths)) as found:
            rows, complete = gather(found, lambda row: f"behind {row.context} tokens", len(contexts) * len(widths))
        if complete:
            crowds, complete = gather(
                concurrent.crowds(device, pair, plan), concurrent.name, sum(concurrent.SIZES), lambda row: row.runs
            )
        if complete:
            kept, complete = gather(memory.short_runs(device, pair, plan), memory.name, memory.RUNS)
    measured = {"rows": plain(rows), "concurrent": plain(crowds), "memory": memory.told(kept)}
    parts: tuple[Table | str, ...] = (
        machine_line(about),
        growth.table(rows),
        concurrent.table(crowds),
        *memory.lines(kept),
    )
    settings = {"settings": plan.settings()}
    return _show(args, complete, settings | about | measured, parts, rows, growth.GrowthRow)


def run_shapes(args: Args, plan: Plan) -> int:
    """`bench --shapes`: no files are needed, so no pair is loaded."""
    names = shapes.names(args.shapes)
    where = choose_device(args.device)
    dtype = choose_dtype(args.dtype, where)
    dials = dialled.Dials(real("alpha", args.alpha, 0.0, 1.0), plan.max_new_tokens, plan.seed)
    device = Device()
    try:
        device.call(limit_threads)
        about = device.call(lambda: environment(str(dtype).removeprefix("torch.")))
        with device.stream(lambda: dialled.steps(names, dtype, where, dials)) as found:
            steps, complete = gather(found, dialled.name, dialled.total(dials), dialled.amount)
    finally:
        device.shutdown()
    measured = dialled.report(dials, steps)
    facts = {"shapes": list(names), "device": where, "dials": plain(dials), "measured": plain(measured)}
    parts = [machine_line(about), *(dialled.tables(measured) if measured else ())]
    rows = measured.rows if measured else ()
    return _show(args, complete, about | facts, parts, rows, dialled.DialledRow)


def _show(
    args: Args, complete: bool, record: Record, parts: Iterable[Table | str], rows: Sequence[Any], kind: type
) -> int:
    """CSV and JSON where asked for, else the tables; 130 and a sentence if the user interrupted."""
    if args.csv:
        write_csv(args.csv, rows, kind)
    if args.json:
        print(dumps({"complete": complete} | record))
    else:
        print_parts(parts)
    return 0 if complete else cli.complain("Stopped; shown is what was measured until then.", 130)
