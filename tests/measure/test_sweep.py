"""A sweep over toys on a clock that only moves with the work: every figure equals a recomputation from the rows."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from toypair import ToyPair, cycle

from specdemo.bench.measure import DraftCost, Tick
from specdemo.bench.plan import Choice, Plan
from specdemo.bench.rows import Row
from specdemo.core.metrics import bootstrap_interval
from specdemo.errors import PairError
from specdemo.measure.cells import Cell, speedup_interval
from specdemo.measure.footprint import footprint
from specdemo.measure.kinds import policies
from specdemo.measure.sweep import Began, Standing, sweep
from specdemo.models.progress import never
from specdemo.prompts import Prompt


def wrong_after_four(context: Sequence[int]) -> torch.Tensor:
    logits = cycle(10)(context).clone()
    return logits.roll(5) if context[-1] == 4 else logits


def plan(*choices: Choice, **settings: Any) -> Plan:
    prompts = tuple(Prompt(name, "own", name) for name in ("0", "3", "7"))
    return Plan(prompts, choices, **{"gammas": (2, 5), "temperatures": (0.0,), "max_new_tokens": 30} | settings)


def run(pair: ToyPair, wanted: Plan, cancelled: Callable[[], bool] = never, strips: bool = False) -> list[Any]:
    return list(sweep(pair, wanted, cancelled, strips))  # type: ignore[arg-type]


def last(steps: list[Any]) -> Standing:
    found = steps[-1]
    assert isinstance(found, Standing)
    return found


def rows_of(standing: Standing, cell: Cell) -> list[Row]:
    return [row for row in standing.rows if (row.lane, row.temperature) == (cell.lane, cell.temperature)]


def test_a_standing_after_every_race_and_a_turn_for_every_round() -> None:
    steps = run(ToyPair(draft=wrong_after_four), plan(Choice("model")))
    assert isinstance(steps[0], Began)
    assert [step.done for step in steps if isinstance(step, Standing)] == [0, 1, 2, 3]
    rounds = sum(row.rounds for row in last(steps).rows)
    racing = steps[[isinstance(step, Standing) for step in steps].index(True) :]
    assert sum(isinstance(step, Tick) for step in racing) == rounds
    costs = [step for step in steps if isinstance(step, DraftCost)]
    assert [cost.drafter for cost in costs] == ["none", "model"]
    assert costs[1].costs.c == pytest.approx(0.2 / 1.1)


def test_cells_are_totals_of_their_rows() -> None:
    standing = last(run(ToyPair(draft=wrong_after_four), plan(Choice("model"))))
    baseline, *drafted = standing.cells
    assert (baseline.lane, baseline.summary.speedup, baseline.books, baseline.low) == ("baseline", None, None, None)
    assert [cell.lane for cell in drafted] == ["model γ2", "model γ5"]
    for cell in drafted:
        rows = rows_of(standing, cell)
        assert cell.summary.speedup == pytest.approx(sum(r.baseline_s for r in rows) / sum(r.seconds for r in rows))
        assert cell.summary.alpha == sum(r.accepted for r in rows) / sum(r.tested for r in rows)
        assert (sum(cell.tested), sum(cell.accepted)) == (sum(r.tested for r in rows), sum(r.accepted for r in rows))
        assert cell.drafted == sum(r.proposed for r in rows) / sum(r.rounds for r in rows)
        interval = bootstrap_interval([(r.baseline_s, r.seconds) for r in rows])
        assert (cell.low, cell.high) == interval
        assert interval is not None
        assert min(r.speedup or 0 for r in rows) <= interval[0] <= interval[1] <= max(r.speedup or 0 for r in rows)


def test_books_add_up_to_what_was_measured() -> None:
    """Here every step of the baseline takes 1.1 s, so the parts are known: γ · 0.2 and 1 + 0.1 · (γ + 1) seconds."""
    standing = last(run(ToyPair(), plan(Choice("model"), gammas=(4,))))
    cell = standing.cells[1]
    books = cell.books
    assert books is not None
    rows = rows_of(standing, cell)
    tau = sum(r.tokens for r in rows) / sum(r.rounds for r in rows)
    assert books.adds_up_to == pytest.approx(tau / (books.draft + books.verify + books.other))
    assert books.verify == pytest.approx(1.5 / 1.1)
    assert books.other == pytest.approx(0.0)
    assert cell.summary.speedup == pytest.approx(books.adds_up_to, rel=0.02)


def test_one_prompt_gives_no_interval_and_a_control_no_speedup() -> None:
    one = Plan((Prompt("0", "own", "0"),), (Choice("model"), Choice("oracle")), (2,), (0.0,), 20)
    _, drafted, control = last(run(ToyPair(), one)).cells
    assert (drafted.low, drafted.high) == (None, None)
    assert (control.summary.speedup, control.books, control.summary.alpha) == (None, None, 1.0)


def test_policies_are_compared_over_the_text() -> None:
    choices = tuple(Choice("model", policy=policy) for policy in policies("model"))
    pair = ToyPair(draft=wrong_after_four)
    standing = last(run(pair, plan(*choices, gammas=(6,)), strips=True))
    assert [cell.summary.drafter for cell in standing.cells[1:]] == [choice.label for choice in choices]
    assert {(prompt, lane) for prompt, lane, _ in standing.strips} == {
        (row.prompt, row.lane) for row in standing.rows if row.drafter != "none"
    }
    asked: dict[str, set[int]] = {}
    for prompt, lane, beats in standing.strips:
        row = next(row for row in standing.rows if (row.prompt, row.lane) == (prompt, lane))
        assert len(beats) == row.rounds
        assert sum(beat.drafted for beat in beats) == row.proposed
        assert sum(beat.accepted for beat in beats) == row.accepted
        assert len("".join(beat.text for beat in beats).split()) == row.tokens
        assert all(beat.drafted <= beat.asked for beat in beats)
        asked.setdefault(lane, set()).update(beat.asked for beat in beats[:-2])
    assert asked["model γ6"] == {6}
    assert len(asked["model, heuristic γ6"]) > 2


def test_a_cancel_keeps_what_was_measured_also_of_the_race_that_it_ends() -> None:
    whole = last(run(ToyPair(), plan(Choice("model"))))
    stop: list[bool] = []
    found, ticks = [], 0
    pair: Any = ToyPair()
    for step in sweep(pair, plan(Choice("model")), lambda: bool(stop)):
        found.append(step)
        racing = any(isinstance(one, Standing) and one.done == 1 for one in found)
        ticks += racing and isinstance(step, Tick)
        if ticks == 10:
            stop.append(True)
    cut = last(found)
    assert ticks == 10, "no round is begun after a stop"
    assert cut.done == 2, "nor a race"
    assert 0 < len(cut.rows) < len(whole.rows)
    ended = [row for row in cut.rows if row.finish_reason == "cancelled"]
    assert ended
    assert all(row.identical is None and row.tokens < 30 for row in ended)
    assert [row for row in cut.rows if row not in ended] == list(whole.rows[: len(cut.rows) - len(ended)])


def test_a_cancel_before_the_races_ends_at_the_next_turn() -> None:
    steps = run(ToyPair(), plan(Choice("model")), lambda: True)
    assert len(steps) == 2
    assert isinstance(steps[0], Began)


def test_drafts_that_cannot_be_had_are_named_and_left_out() -> None:
    began, *steps = run(ToyPair(), plan(Choice("tiny-model"), Choice("model")))
    assert [choice.drafter for choice in began.plan.choices] == ["model"]
    assert [(name, type(error)) for name, error in began.refused] == [("tiny-model", PairError)]
    assert {row.drafter for row in last(steps).rows} == {"none", "model"}
    with pytest.raises(PairError):
        run(ToyPair(), plan(Choice("tiny-model")))


def test_what_a_draft_weighs() -> None:
    pair: Any = ToyPair()
    pair.draft_bytes = 12
    assert footprint(pair, Choice("model")) == 12
    assert footprint(pair, Choice("prompt-lookup")) == 0
    with pytest.raises(PairError):
        footprint(pair, Choice("ngram"))


def test_no_interval_without_speedups() -> None:
    assert speedup_interval([]) is None
