"""Runs drawn in a terminal: tokens coloured by fate, a legend, the numbers.

Knows events and results. Does not know models or settings. Colour is never the only sign: rejected text is
struck through, resampled underlined, bonus bold. Without colour only the final text is written.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.style import Style
from rich.table import Table
from rich.text import Text as Styled

from specdemo.advice import advice
from specdemo.core import rules
from specdemo.core.events import Drafted, Event, Judged, RunFinished
from specdemo.core.metrics import Metrics
from specdemo.core.result import Results
from specdemo.core.verify import Fate
from specdemo.outcome import Outcome

STYLES = {
    Fate.ACCEPTED: Style(color="green"),
    Fate.REJECTED: Style(color="red", strike=True),
    Fate.DISCARDED: Style(color="bright_black", strike=True, dim=True),
    Fate.RESAMPLED: Style(color="blue", underline2=True, bold=True),
    Fate.BONUS: Style(color="magenta", bold=True),
    Fate.PLAIN: Style(),
}
MEANING = {
    Fate.ACCEPTED: "drafted, tested, kept",
    Fate.REJECTED: "drafted, tested, failed",
    Fate.DISCARDED: "drafted, never tested: an earlier guess fell",
    Fate.RESAMPLED: "the target's own choice in place of a rejected token",
    Fate.BONUS: "free token after all guesses were accepted",
    Fate.PLAIN: "nothing was drafted",
}
Label = Callable[[int], tuple[str, str]]
"""From an id to what a chip shows of it and its kind: text, bytes or special."""

MARKS = {" ": "␣", "\n": "⏎", "\t": "⇥"}


def visible(label: tuple[str, str]) -> str:
    """A token's label with its whitespace made visible; bytes in angle brackets."""
    text, kind = label
    return f"⟨{text}⟩" if kind == "bytes" else "".join(MARKS.get(char, char) for char in text)


class LoadProgress:
    """Progress bars on stderr for loading: one per stage, gone when done."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self._bars = Progress(*columns, console=Console(stderr=True), transient=True)
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "LoadProgress":
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Reports `done` of `total` units of a stage (total None: unknown)."""
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total)
        self._bars.update(self._tasks[stage], completed=done, total=total)


class TokenView:
    """Writes one lane as it happens: kept text in its fates' colours, this round's fallen guesses struck through."""

    def __init__(self, console: Console, label: Label, lane: str) -> None:
        self._console, self._label, self._lane = console, label, lane
        self._drafted: tuple[int, ...] = ()

    def watch(self, events: Iterable[Event]) -> Iterator[Event]:
        """Passes every event through and writes those of the lane."""
        for event in events:
            if event.lane == self._lane:
                self._show(event)
            yield event

    def _show(self, event: Event) -> None:
        match event:
            case Drafted(tokens=tokens):
                self._drafted = tokens
            case Judged():
                self._console.print(self._round(event), end="", soft_wrap=True, highlight=False)
            case RunFinished(tail=tail):
                self._console.print(tail, highlight=False, markup=False)
            case _:
                pass

    def _round(self, judged: Judged) -> Styled:
        line = Styled()
        for piece, fate in zip(judged.pieces, judged.emitted_fates, strict=True):
            if fate not in (Fate.ACCEPTED, Fate.PLAIN, Fate.BONUS):
                self._ghosts(line, judged)
            line.append(harmless(piece), STYLES[fate])
        return line

    def _ghosts(self, line: Styled, judged: Judged) -> None:
        if not self._console.is_terminal:
            return
        for token, fate in zip(self._drafted, judged.fates, strict=False):
            if fate is not Fate.ACCEPTED:
                line.append(harmless(visible(self._label(token))), STYLES[fate])


def harmless(piece: str) -> str:
    """A piece of text without the characters that tell a terminal what to do; lines and tabs stay."""
    return "".join(c for c in piece if c in "\n\t" or unicodedata.category(c) != "Cc")


def legend() -> Styled:
    """The fates in their colours with their meanings."""
    line = Styled()
    for fate, meaning in MEANING.items():
        line.append(f"{fate} ", STYLES[fate])
        line.append(f"{meaning}\n", Style(dim=True))
    return line


def number(value: float | int | None, digits: int = 2, unit: str = "") -> str:
    """A figure for a table; "–" where there is none."""
    if value is None:
        return "–"
    return f"{value:,}{unit}" if isinstance(value, int) else f"{value:.{digits}f}{unit}"


def metrics_table(m: Metrics) -> Table:
    """The numbers of one run with their definitions in a word or two."""
    table = Table(box=None, show_header=False, pad_edge=False)
    histogram = "  ".join(f"{kept}:{rounds}" for kept, rounds in enumerate(m.lengths))
    positions = zip(m.position_accepted, m.position_tested, strict=True)
    rows = [
        ("tokens", number(m.tokens), f"in {m.rounds} target passes, {m.passes_saved} passes saved"),
        ("τ", number(m.tau), "tokens per target pass"),
        ("α", number(m.alpha), _tested(m)),
        ("accepted / drafted", number(m.accepted_per_drafted), f"{m.drafted} drafted, {m.discarded} never tested"),
        ("accepted / emitted", number(m.accepted_per_emitted), "share of the text that was guessed"),
        ("hit rate", number(m.hit_rate), f"{m.proposals} of {m.rounds} rounds had a proposal"),
        ("accepted lengths", histogram or "–", "guesses kept: rounds"),
        ("by position", "  ".join(f"{k}/{n}" for k, n in positions) or "–", "accepted / tested, first guess first"),
        ("looped text", number(m.looped), "share of repeated 8-grams; loops are easy to guess"),
        ("decoding", number(m.tokens_per_s, 1, " tokens/s"), _times(m)),
        ("first token", number(m.first_token_s, 3, " s"), f"of which prefill {m.prefill_s:.3f} s"),
    ]
    for name, value, meaning in rows:
        table.add_row(name, value, Styled(meaning, Style(dim=True)))
    return table


def _tested(m: Metrics) -> str:
    if m.drafted and not m.tested:
        return "undefined: this rule keeps or drops whole blocks; τ says how good the guesses are"
    return f"{m.accepted} of {m.tested} tested guesses accepted"


def _times(m: Metrics) -> str:
    return f"{m.decode_s:.2f} s: draft {m.draft_s:.2f}, target {m.verify_s:.2f}, other {m.overhead_s:.2f}"


def outcome_lines(outcome: Outcome, results: Results) -> Iterator[str]:
    """The verdict of a race in sentences, slow results included."""
    c = outcome.comparison
    if c.speedup is None:
        yield "No token was emitted; there is nothing to compare."
        return
    pace = f"×{c.speedup:.2f} faster" if c.speedup >= 1 else f"×{c.speedup:.2f}: slower than plain decoding"
    yield f"{pace}, by time to the same {c.tokens} tokens; {sameness(outcome)}."
    if c.too_short:
        yield f"{c.tokens} tokens are too short to judge a speedup."
    yield (
        f"c = {number(c.c)}: one draft step in target steps. v({c.width or '–'}) = {number(c.v)}: checking so many "
        f"positions in target steps. The whole run adds up to ×{number(c.adds_up_to)}."
    )
    lanes = [lane for lane in results.lanes.values() if lane.started and lane.started.drafter != "none"]
    drafting = next((lane.metrics for lane in lanes if lane.metrics), None)
    if drafting:
        yield from advice(c, drafting)[:2]
    for name, lane in results.lanes.items():
        if lane.metrics:
            yield f"{name}: {number(lane.metrics.tokens_per_s, 1)} tokens/s of decoding"


def sameness(outcome: Outcome) -> str:
    """Whether the two texts are the same, in words."""
    rule = rules.entry(outcome.rule)
    if outcome.identical is None:
        same = "their law is the same" if rule.keeps_law(greedy=False) else f"so may their law: {rule.label.lower()}"
        return f"sampled, so the texts differ and {same}"
    if outcome.identical:
        return f"identical {outcome.same}/{outcome.of} ✓"
    if not rule.keeps_law(greedy=True):
        return f"different from token {outcome.same + 1} on: {rule.label.lower()} does not keep the target's law"
    if (d := outcome.divergence) is None:
        return f"the first {outcome.same} of {outcome.of} tokens are identical"
    if d.numerical_tie:
        return f"numerical tie at token {d.index + 1}, gap {d.gap:.3f} (rounding moves it by {d.difference:.3f})"
    return f"DIFFERENT from token {d.index + 1} on with a gap of {d.gap:.3f}: please report this as a fault"
