"""The rows of a bench over toys equal what is worked out by hand, on a clock that only moves with the work."""

from collections.abc import Sequence

import pytest
import torch
from toypair import VOCABULARY, ToyPair, cycle

from specdemo.bench.measure import DraftCost, Finished, Tick, measure, prepare
from specdemo.bench.plan import Choice, Plan
from specdemo.bench.rows import Row
from specdemo.errors import PromptError
from specdemo.prompts import Prompt


def wrong_after_four(context: Sequence[int]) -> torch.Tensor:
    logits = cycle(10)(context).clone()
    return logits.roll(5) if context[-1] == 4 else logits


def bench(pair: ToyPair, plan: Plan) -> list[Row]:
    found = [step for step in prepare(pair, plan) if isinstance(step, DraftCost)]
    costs = {(cost.drafter, cost.temperature): cost.costs for cost in found}
    return [row for step in measure(pair, plan, costs) if isinstance(step, Finished) for row in step.rows]


def plan(*choices: str, prompts: tuple[str, ...] = ("0",), **settings: object) -> Plan:
    named = tuple(Prompt(f"p{i}", "copy", text) for i, text in enumerate(prompts))
    wanted: dict[str, object] = {"gammas": (3,), "temperatures": (0.0,), "max_new_tokens": 9} | settings
    return Plan(named, tuple(Choice.parse(choice) for choice in choices), **wanted)  # type: ignore[arg-type]


def test_row_by_hand() -> None:
    """Rounds: 1 2 3 kept, 4 free · the guess after 4 falls, two discarded, 5 · 6 7 8 kept, 9 free.

    A round takes 3 · 0.2 s of drafting and a pass over four, 1.4 s; a baseline step 1.1 s.
    """
    baseline, drafted = bench(ToyPair(draft=wrong_after_four), plan("model"))
    assert (baseline.lane, baseline.drafter, baseline.gamma) == ("baseline", "none", 0)
    assert (baseline.tokens, baseline.rounds, baseline.speedup, baseline.identical) == (9, 9, None, None)
    assert baseline.decode_s == pytest.approx(9.9)
    assert (drafted.lane, drafted.drafter, drafted.gamma, drafted.control) == ("model γ3", "model", 3, False)
    assert (drafted.tokens, drafted.rounds, drafted.proposed, drafted.drafted) == (9, 3, 9, 9)
    assert (drafted.accepted, drafted.tested) == (6, 7)
    assert drafted.alpha == pytest.approx(6 / 7)
    assert drafted.tau == pytest.approx(3.0)
    assert drafted.c == pytest.approx(0.2 / 1.1)
    assert (drafted.v, drafted.width) == (pytest.approx(1.4 / 1.1), 4)
    assert (drafted.compared, drafted.seconds, drafted.baseline_s) == (9, pytest.approx(6.0), pytest.approx(9.9))
    assert drafted.speedup == pytest.approx(9.9 / 6.0)
    assert drafted.predicted == pytest.approx(9.9 / 6.0)
    assert (drafted.draft_s, drafted.verify_s) == (pytest.approx(1.8), pytest.approx(4.2))
    assert drafted.overhead_s == pytest.approx(0.0)
    assert drafted.tokens_per_s == pytest.approx(9 / 6)
    assert drafted.token_s == pytest.approx(6 / 9)
    assert drafted.latency_s == pytest.approx(6.0)
    assert drafted.first_token_s == pytest.approx(2.0)
    assert drafted.too_short
    assert (drafted.identical, drafted.divergence, drafted.gap) == (True, None, None)


def test_speedup_compares_the_time_to_the_same_number_of_tokens() -> None:
    """The baseline meets its end token where the drafted lane goes on: only common tokens count."""

    def uneven(context: Sequence[int]) -> torch.Tensor:
        return torch.zeros(VOCABULARY)

    rows = bench(ToyPair(target=uneven, draft=uneven), plan("model", temperatures=(1.0,), max_new_tokens=60, repeat=9))
    lanes = [(rows[i], rows[i + 1]) for i in range(0, len(rows), 2)]
    assert any(baseline.tokens != drafted.tokens for baseline, drafted in lanes)
    for baseline, drafted in lanes:
        assert drafted.compared == min(baseline.tokens, drafted.tokens)
        assert drafted.baseline_s == pytest.approx(1.1 * drafted.compared)
        assert drafted.identical is None


def test_controls_have_no_speedup() -> None:
    _, oracle, real = bench(ToyPair(), plan("oracle", "model"))
    assert (oracle.control, oracle.alpha, oracle.speedup, oracle.predicted) == (True, 1.0, None, None)
    assert real.speedup is not None


def test_divergence_of_greedy_texts_is_explained() -> None:
    """A target whose wide passes answer differently, as a broken cache would make it."""

    class Broken(ToyPair):
        def target(self):  # type: ignore[no-untyped-def]
            session = super().target()
            extend = session.extend

            def wide(tokens, keep):  # type: ignore[no-untyped-def]
                found = extend(tokens, keep)
                found.logits[1:] = found.logits[1:].roll(1, dims=-1)
                return found

            session.extend = wide  # type: ignore[method-assign]
            return session

    _, row = bench(Broken(), plan("model"))
    assert row.identical is False
    assert row.divergence == 1
    assert row.gap == pytest.approx(20.0)


def test_races_already_done_are_not_run_again() -> None:
    pair = ToyPair()
    wanted = plan("model", prompts=("0", "1", "2"))
    done = {("p0", 0.0, 0), ("p2", 0.0, 0)}
    steps = [step for step in measure(pair, wanted, {}, done) if isinstance(step, Finished)]
    assert [step.race.prompt.id for step in steps] == ["p1"]


def test_progress_is_told_between_rounds() -> None:
    ticking = iter(range(10**6))
    steps = list(measure(ToyPair(), plan("model"), {}, clock=lambda: float(next(ticking))))
    shares = [step.share for step in steps if isinstance(step, Tick)]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_costs_are_measured_once_per_drafter_and_temperature() -> None:
    steps = prepare(ToyPair(), plan("model", "prompt-lookup", gammas=(1, 3), temperatures=(0.0, 1.0)))
    found = [step for step in steps if isinstance(step, DraftCost)]
    assert [(cost.drafter, cost.temperature) for cost in found] == [
        (drafter, temperature) for temperature in (0.0, 1.0) for drafter in ("none", "model", "prompt-lookup")
    ]
    assert found[1].costs.t(4) == pytest.approx(1.4)
    assert found[1].costs.t_draft == pytest.approx(0.2)


def test_a_prompt_that_leaves_no_room_is_refused_by_name() -> None:
    with pytest.raises(PromptError, match="p1"):
        list(prepare(ToyPair(limit=40), plan("model", prompts=("0", " ".join("1" * 40)))))
