"""The headline: the page's default drafter against plain decoding over all kinds of prompts, as few figures.

Knows rows. A kind of prompt counts by its total tokens / total time, drafted over plain; the kinds count alike, by
their geometric mean. A looping text is easy to guess, so its share is told and the figure without it as well.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rich.table import Table

from specdemo.bench.about import Record, machine_line
from specdemo.bench.plan import Plan
from specdemo.bench.rows import Row
from specdemo.bench.summary import LOOPING, geometric_mean
from specdemo.core.metrics import median, ratio
from specdemo.terminal import number

Key = TypeVar("Key", str, int)

Pairs = Sequence[tuple[Row, Row]]
"""(drafted, plain) of each race."""


@dataclass(frozen=True, slots=True)
class Headline:
    """One drafter with one γ at one temperature over `runs` races.

    plain_per_s, drafted_per_s: total tokens / total time. groups: (group, times). times: geometric mean of groups.
    repeats: the same for each repeat alone. slowest, middle, fastest: times of single prompts.
    looped: share of 8-grams of the drafted texts that had occurred before, mean over runs; looping: races in which
    either text loops; without_loops: times over the other races.
    identical: texts with the baseline's very tokens, `of` greedy ones; ties: others that rounding explains.
    """

    drafter: str
    gamma: int
    temperature: float
    runs: int
    prompts: int
    plain_per_s: float | None
    drafted_per_s: float | None
    times: float | None
    groups: tuple[tuple[str, float], ...]
    repeats: tuple[float, ...]
    slowest: float | None
    middle: float | None
    fastest: float | None
    alpha: float | None
    tau: float | None
    looped: float | None
    looping: int
    without_loops: float | None
    identical: int
    of: int
    ties: int


def headlines(rows: Sequence[Row]) -> tuple[Headline, ...]:
    """One for every drafter, γ and temperature."""
    plain = {row.race: row for row in rows if row.drafter == "none"}
    found: dict[tuple[float, str, int], list[tuple[Row, Row]]] = {}
    for row in rows:
        if row.drafter != "none":
            found.setdefault((row.temperature, row.drafter, row.gamma), []).append((row, plain[row.race]))
    return tuple(_headline(pairs) for _, pairs in sorted(found.items(), key=lambda item: item[0][0]))


def _headline(pairs: Pairs) -> Headline:
    first, drafted = pairs[0][0], [row for row, _ in pairs]
    by_prompt = [t for of_one in _by(pairs, lambda row: row.prompt).values() if (t := times(of_one))]
    by_repeat = [t for of_one in _by(pairs, lambda row: row.repeat).values() if (t := mean_times(of_one))]
    looped = [row.looped for row in drafted if row.looped is not None]
    calm = [pair for pair in pairs if not any(_loops(row) for row in pair)]
    greedy = [row for row in drafted if row.identical is not None]
    return Headline(
        drafter=first.drafter,
        gamma=first.gamma,
        temperature=first.temperature,
        runs=len(pairs),
        prompts=len({row.prompt for row in drafted}),
        plain_per_s=_rate([row for _, row in pairs]),
        drafted_per_s=_rate(drafted),
        times=mean_times(pairs),
        groups=_group_times(pairs),
        repeats=tuple(by_repeat),
        slowest=min(by_prompt, default=None),
        middle=median(by_prompt) if by_prompt else None,
        fastest=max(by_prompt, default=None),
        alpha=ratio(sum(row.accepted for row in drafted), sum(row.tested for row in drafted)),
        tau=ratio(sum(row.tokens for row in drafted), sum(row.rounds for row in drafted)),
        looped=ratio(sum(looped), len(looped)),
        looping=len(pairs) - len(calm),
        without_loops=mean_times(calm),
        identical=sum(row.identical is True for row in greedy),
        of=len(greedy),
        ties=sum(row.tie is True for row in greedy),
    )


def times(pairs: Pairs) -> float | None:
    """Tokens per second of the drafted runs / of the plain ones, each a total divided once."""
    drafted, plain = _rate([row for row, _ in pairs]), _rate([row for _, row in pairs])
    return ratio(drafted, plain) if drafted is not None and plain else None


def mean_times(pairs: Pairs) -> float | None:
    """Geometric mean of the groups' times."""
    return geometric_mean([t for _, t in _group_times(pairs)])


def _group_times(pairs: Pairs) -> tuple[tuple[str, float], ...]:
    groups = _by(pairs, lambda row: row.group)
    return tuple((group, t) for group, of_one in groups.items() if (t := times(of_one)))


def _rate(rows: Sequence[Row]) -> float | None:
    return ratio(sum(row.tokens for row in rows), sum(row.decode_s for row in rows))


def _loops(row: Row) -> bool:
    return row.looped is not None and row.looped > LOOPING


def _by(pairs: Pairs, key: Callable[[Row], Key]) -> dict[Key, list[tuple[Row, Row]]]:
    found: dict[Key, list[tuple[Row, Row]]] = {}
    for pair in pairs:
        found.setdefault(key(pair[0]), []).append(pair)
    return found


def tables(headlines: Sequence[Headline], plan: Plan, environment: Record) -> Iterator[Table | str]:
    """The machine and settings, the figures by temperature, the kinds of prompts."""
    if not headlines:
        yield "Nothing was measured."
        return
    yield machine_line(environment)
    yield (
        f"{plan.pair}, {plan.max_new_tokens} new tokens, {len(plan.prompts)} prompts × {plan.repeat}, "
        f"seed {plan.seed}; each race alternates with its baseline by device clocks. "
        "A group counts by total tokens / total time."
    )
    for h in headlines:
        spread = (
            f"single prompts {number(h.slowest)} · {number(h.middle)} · {number(h.fastest)} (least · median · most)"
        )
        if len(h.repeats) > 1:
            spread += f", repeats {number(min(h.repeats))} … {number(max(h.repeats))}"
        same = f"; identical texts {h.identical} of {h.of}, {h.ties} of the others near-ties" if h.of else ""
        yield (
            f"T = {h.temperature:g}, {h.drafter} γ{h.gamma}: ×{number(h.times)} ({number(h.plain_per_s, 1)} → "
            f"{number(h.drafted_per_s, 1)} tokens/s; {spread}); α {number(h.alpha)}, τ {number(h.tau)}{same}. "
            f"Looped text {number(h.looped)} of all, {h.looping} of {h.runs} races loop; "
            f"without them ×{number(h.without_loops)}."
        )
    yield group_table(headlines)


def group_table(headlines: Sequence[Headline]) -> Table:
    """Times by kind of prompt."""
    groups = tuple(dict.fromkeys(group for h in headlines for group, _ in h.groups))
    table = Table()
    table.add_column("drafter")
    for head in ("T", *groups, "geometric mean", "without loops"):
        table.add_column(head, justify="right")
    for h in headlines:
        by_group = dict(h.groups)
        cells = (number(by_group.get(group)) for group in groups)
        name = f"{h.drafter} γ{h.gamma}"
        table.add_row(name, f"{h.temperature:g}", *cells, number(h.times), number(h.without_loops))
    return table
