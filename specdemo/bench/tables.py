"""The summaries of a bench as tables and sentences for a terminal. Slow results are shown as they are."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from specdemo.bench.summary import LOOPING, Summary, best
from specdemo.terminal import number


def tables(summaries: Sequence[Summary]) -> Iterator[Table | str]:
    """For each temperature: the baseline, the drafters, their groups, the verdict; controls apart."""
    for temperature in dict.fromkeys(s.temperature for s in summaries):
        here = [s for s in summaries if s.temperature == temperature]
        real = [s for s in here if not s.control and s.drafter != "none"]
        controls = [s for s in here if s.control]
        yield from (baseline_line(s) for s in here if s.drafter == "none")
        if real:
            yield drafter_table(real)
            yield f"T = {temperature:g}: speedup by kind of prompt"
            yield group_table(real)
            yield verdict(best(real, temperature), temperature)
        if controls:
            yield f"T = {temperature:g}: controls (no deployment could use them; not timed)"
            yield control_table(controls)


def baseline_line(s: Summary) -> str:
    """The speed of plain decoding, and how many of its texts loop."""
    return (
        f"T = {s.temperature:g}: plain decoding {number(s.tokens_per_s, 1)} tokens/s "
        f"({number(_ms(s.token_s), 1)} ms a token, {number(s.latency_s)} s a prompt with prefill; {s.runs} runs of "
        f"{s.prompts} prompts, {s.looping} with more than {LOOPING:.0%} looped text)"
    )


def drafter_table(summaries: Sequence[Summary]) -> Table:
    """Acceptance, costs and speedup in total, the spread over prompts and the prediction."""
    table = Table()
    heads = ("drafter", "γ", "α", "95 %", "of tested", "τ", "c", "v", "tokens/s", "ms/token", "s/prompt")
    for head in (*heads, "speedup", "least · median · most", "predicted", "other", "identical"):
        table.add_column(head, justify="left" if head == "drafter" else "right")
    for s in summaries:
        table.add_row(
            s.drafter,
            number(s.gamma),
            number(s.alpha),
            "–" if s.alpha_low is None else f"{s.alpha_low:.2f}–{s.alpha_high:.2f}",
            f"{s.accepted} of {s.tested}",
            number(s.tau),
            number(s.c, 3),
            number(s.v),
            number(s.tokens_per_s, 1),
            number(_ms(s.token_s), 1),
            number(s.latency_s),
            f"×{number(s.speedup)}",
            f"{number(s.slowest)} · {number(s.middle)} · {number(s.fastest)}",
            f"×{number(s.predicted)}",
            "–" if s.other is None else f"{s.other:.1%}",
            f"{s.identical}/{s.greedy}" if s.greedy else "–",
        )
    return table


def group_table(summaries: Sequence[Summary]) -> Table:
    """Speedup of each group, their geometric mean, and the total with and without looping texts."""
    groups = tuple(dict.fromkeys(group for s in summaries for group, _ in s.groups))
    table = Table()
    table.add_column("drafter")
    for head in ("γ", *groups, "geometric mean", "looping runs", "only those", "without"):
        table.add_column(head, justify="right")
    for s in summaries:
        by_group = dict(s.groups)
        table.add_row(
            s.drafter,
            number(s.gamma),
            *(number(by_group.get(group)) for group in groups),
            number(s.geometric_mean),
            f"{s.looping} of {s.runs}",
            number(s.speedup_looping),
            number(s.speedup_plain),
        )
    return table


def control_table(summaries: Sequence[Summary]) -> Table:
    """What the yardsticks accept."""
    table = Table()
    table.add_column("control")
    for head in ("γ", "α", "of tested", "τ", "identical"):
        table.add_column(head, justify="right")
    for s in summaries:
        same = f"{s.identical}/{s.greedy}" if s.greedy else "–"
        counts = f"{s.accepted} of {s.tested}"
        table.add_row(s.drafter, number(s.gamma), number(s.alpha), counts, number(s.tau), same)
    return table


def verdict(fastest: Summary | None, temperature: float) -> str:
    """Who was fastest, and whether that was faster than no draft at all."""
    if fastest is None or fastest.speedup is None:
        return f"T = {temperature:g}: nothing to compare."
    name, times = f"{fastest.drafter} γ{fastest.gamma}", fastest.speedup
    if times < 1:
        return f"T = {temperature:g}: nothing was faster than plain decoding; the best, {name}, ran at ×{times:.2f}."
    return f"Fastest at T = {temperature:g}: {name}, ×{times:.2f}."


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000
