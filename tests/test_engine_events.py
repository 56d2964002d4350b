"""What a run says about itself, on toys: events, text, seeds and the clock."""

import random
from collections.abc import Callable, Sequence

import pytest
import torch
from playing import (
    GREEDY,
    PROMPT,
    SAMPLED,
    TARGET,
    VOCABULARY,
    FromTable,
    Nothing,
    Sampler,
    Weak,
    drafters,
    golden,
    make_run,
    play,
    timed,
)
from torch import Tensor

from specdemo.config import SamplingConfig
from specdemo.core.events import (
    Drafted,
    Event,
    Inspected,
    Judged,
    Prefilled,
    RoundFinished,
    RunFinished,
    RunStarted,
)
from specdemo.core.metrics import compare
from specdemo.core.policy import Constant, Heuristic
from specdemo.core.protocols import Pass
from specdemo.core.sampling import Coin, Shaping
from specdemo.core.verify import Draft, Fate, Verdict
from specdemo.engine import NoDrafter, autoregressive, speculative
from specdemo.models.toy import ToySession, script


def test_order_of_events() -> None:
    kinds = [type(event) for event in play(make_run(3, inspect=True), Weak(GREEDY)).events]
    rounds = kinds.count(RoundFinished)
    assert kinds == [RunStarted, Prefilled, *[Drafted, Judged, Inspected, RoundFinished] * rounds, RunFinished]


@pytest.mark.parametrize("gamma", [0, 4])
def test_nothing_drafted_is_plain(gamma: int) -> None:
    """γ = 0, or asked and silent: no bonus, no test; an idle round counts in the hit rate only."""
    played = play(make_run(gamma, tokens=5), Nothing(GREEDY))
    assert all(judged.emitted_fates == (Fate.PLAIN,) and judged.fates == () for judged in played.of(Judged))
    metrics = played.finished.metrics
    assert (metrics.plain, metrics.bonus, metrics.alpha, metrics.hit_rate, metrics.lengths) == (5, 0, None, 0.0, ())


def test_plain_decoding_is_the_same_loop() -> None:
    run = make_run(4, tokens=10)
    events = list(autoregressive(ToySession(TARGET), run))
    assert events[-1].tokens == golden(tokens=10)
    assert events[-1].metrics.plain == 10


def test_plain_decoding_is_never_asked_to_draft() -> None:
    class Unasked(NoDrafter):
        def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
            raise AssertionError("asked for nothing")

    play(make_run(0, tokens=3), Unasked())


def fates_at_the_end(end: int, gamma: int = 4) -> Judged:
    """The last round of a perfect draft of 0 1 2 … 19 that ends at `end`."""
    table = script([*range(20)], start=3, vocabulary=VOCABULARY)
    shaping = Shaping(SamplingConfig(), (end,))
    played = play(make_run(gamma, shaping), FromTable(shaping, table), table)
    metrics = played.finished.metrics
    assert metrics.tokens == metrics.accepted + metrics.bonus == end + 1
    assert metrics.drafted == metrics.tested == metrics.accepted
    assert sum(metrics.lengths) == metrics.proposals == metrics.rounds
    return played.of(Judged)[-1]


def test_a_block_cut_by_a_stop_counts_nothing_behind_it() -> None:
    assert fates_at_the_end(2).fates == (Fate.ACCEPTED,) * 3
    assert len(fates_at_the_end(2).tests) == 3
    assert fates_at_the_end(3).emitted_fates == (Fate.ACCEPTED,) * 4  # the last guess: no bonus is counted
    assert fates_at_the_end(4).emitted_fates == (*[Fate.ACCEPTED] * 4, Fate.BONUS)
    assert fates_at_the_end(7).emitted == (5, 6, 7)


def test_fates_of_a_rejection() -> None:
    table = script([*range(20)], start=3, vocabulary=VOCABULARY)

    class Half(NoDrafter):
        def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
            return Draft((0, 1, 9, 9), source="here", steps=3, skipped=2)

    played = play(make_run(4, tokens=8), Half(), table)
    drafted, judged, done = played.of(Drafted)[0], played.of(Judged)[0], played.of(RoundFinished)[0]
    assert (drafted.source, drafted.steps, drafted.skipped, drafted.gamma) == ("here", 3, 2, 4)
    assert judged.fates == (Fate.ACCEPTED, Fate.ACCEPTED, Fate.REJECTED, Fate.DISCARDED)
    assert judged.emitted == (0, 1, 2)
    assert judged.emitted_fates == (Fate.ACCEPTED, Fate.ACCEPTED, Fate.RESAMPLED)
    assert [test.accepted for test in judged.tests] == [True, True, False]
    assert (done.counted.fates, done.counted.last, done.counted.width) == (judged.fates, Fate.RESAMPLED, 5)
    assert (done.counted.steps, done.counted.skipped) == (3, 2)


@drafters
def test_text_grows_by_the_pieces_of_each_round(kind: type[FromTable]) -> None:
    played = play(make_run(4, SAMPLED), kind(SAMPLED))
    ids: list[int] = []
    text = ""
    for judged in played.of(Judged):
        ids += judged.emitted
        text += "".join(judged.pieces)
        assert len(judged.pieces) == len(judged.emitted) == len(judged.emitted_fates)
        assert text == "".join(f"{i} " for i in ids)
    assert (tuple(ids), text) == (played.tokens, played.finished.text)


def test_rounds_are_numbered_and_metrics_are_those_so_far() -> None:
    played = play(make_run(4), Weak(GREEDY))
    rounds = played.of(RoundFinished)
    assert [event.round for event in rounds] == [*range(1, len(rounds) + 1)]
    assert [event.round for event in played.of(Judged)] == [event.round for event in played.of(Drafted)]
    emitted = 0
    for event in rounds:
        emitted += event.counted.emitted
        assert event.metrics.tokens == emitted
    assert rounds[-1].metrics == played.finished.metrics


def test_started_says_what_was_chosen() -> None:
    run = make_run(4, SAMPLED, seed=5, policy=Heuristic(6), drafter="weak")
    started = play(run, Weak(SAMPLED)).events[0]
    assert started == RunStarted("lane", "weak", 6, "heuristic", False, 5, PROMPT, 40)


@drafters
def test_drafter_and_policy_learn_what_was_kept(kind: type[FromTable]) -> None:
    told: list[tuple[int, int]] = []
    texts: list[tuple[int, ...]] = []

    class Listening(Constant):
        def observe(self, drafted: int, accepted: int) -> None:
            told.append((drafted, accepted))

    drafter = kind(GREEDY)
    drafter.observe = lambda tokens, verdict, hidden: texts.append(tuple(tokens))  # type: ignore[method-assign]
    played = play(make_run(4, policy=Listening(4)), drafter)
    assert told == [
        (len(drafted.tokens), accepted) for drafted, accepted in zip(played.of(Drafted), played.accepted, strict=True)
    ]
    assert texts[-1] == (*PROMPT, *played.tokens)
    assert [len(text) - len(PROMPT) for text in texts] == [e.metrics.tokens for e in played.of(RoundFinished)]


class Telling(ToySession):
    """The hidden state of a token is its id and its position."""

    def extend(self, tokens: Sequence[int], keep: int) -> Pass:
        first = len(self)
        rows = [(float(token), float(first + i)) for i, token in enumerate(tokens[first:])]
        return Pass(super().extend(tokens, keep).logits, torch.tensor(rows).reshape(-1, 2))


@drafters
def test_a_drafter_is_handed_the_hidden_state_of_every_committed_token_once(kind: type[FromTable]) -> None:
    seen: list[tuple[float, float]] = []
    drafter = kind(GREEDY)

    def prefill(tokens: Sequence[int], hidden: Tensor) -> None:
        seen.extend(map(tuple, hidden.tolist()))

    def observe(tokens: Sequence[int], verdict: Verdict, hidden: Tensor) -> None:
        seen.extend(map(tuple, hidden[: 1 + verdict.accepted].tolist()))

    drafter.prefill, drafter.observe = prefill, observe  # type: ignore[method-assign, assignment]
    *_, finished = speculative(Telling(TARGET), drafter, make_run(4))
    assert isinstance(finished, RunFinished)
    text = [*PROMPT, *finished.tokens]
    assert seen == [(float(token), float(i)) for i, token in enumerate(text[: len(seen)])]
    assert len(text) - len(seen) in (1, 2), "the last token was not fed, nor one behind an end within a block"


def test_the_rule_is_the_runs_own() -> None:
    def always_seven(draft: Draft, p: torch.Tensor, coin: Coin) -> Verdict:
        return Verdict(0, 7, Fate.PLAIN, ())

    assert play(make_run(0, tokens=3, rule=always_seven)).tokens == (7, 7, 7)


@pytest.mark.parametrize("gamma", [1, 3, 5, 7])
def test_gamma_reaches_the_drafter(gamma: int) -> None:
    """A perfect draft of constant γ proposes exactly γ in every round but the last."""
    proposed = [len(drafted.tokens) for drafted in play(make_run(gamma), FromTable(GREEDY)).of(Drafted)]
    assert set(proposed[:-1]) == {gamma}
    assert proposed[-1] <= gamma


@drafters
def test_same_seed_same_events(kind: type[FromTable]) -> None:
    def events(seed: int) -> list[Event]:
        return play(make_run(4, SAMPLED, seed=seed, tokens=20, inspect=True), kind(SAMPLED)).events

    first = events(42)
    assert events(43) != first
    assert events(42) == first


def test_seeds_do_not_matter_where_no_coin_does() -> None:
    texts = {play(make_run(4, seed=seed), Sampler(GREEDY)).tokens for seed in (1, 2, 3)}
    assert len(texts) == 1


def test_global_generators_are_left_alone() -> None:
    torch_state, python_state = torch.get_rng_state(), random.getstate()
    play(make_run(4, SAMPLED, inspect=True), Sampler(SAMPLED))
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert random.getstate() == python_state


def rounds_of(events: list[Event]) -> list:
    return [event.counted for event in events if isinstance(event, RoundFinished)]


def test_the_clock_measures_decoding() -> None:
    """Perfect draft, γ = 6: a round is 60 + 16 ticks for seven tokens. Prompt time stands apart."""
    events = list(timed(6))
    metrics = events[-1].metrics
    assert metrics.rounds == 4
    assert (metrics.draft_s, metrics.verify_s, metrics.overhead_s) == (240, 64, 0)
    assert metrics.prefill_s == 511
    assert metrics.first_token_s == 511 + 76
    assert [e.clock_s for e in events if isinstance(e, RoundFinished)] == [76, 152, 228, 304]


def test_a_draft_as_slow_as_the_target_is_shown_as_slower() -> None:
    comparison = compare(rounds_of(list(timed(6))), rounds_of(list(timed(0))))
    assert comparison.speedup == pytest.approx(280 / 304)
    assert (comparison.c, comparison.v, comparison.width) == (pytest.approx(1.0), pytest.approx(1.6), 7)


def test_a_slow_reader_and_the_inspector_are_outside_the_clock() -> None:
    quick, slow = list(timed(6)), list(timed(6, pause=9000, inspect=True))
    assert [event for event in slow if not isinstance(event, Inspected)] == quick


@pytest.mark.parametrize("make", [lambda: NoDrafter(), lambda: Weak(GREEDY)], ids=["plain", "speculative"])
def test_a_clock_that_does_not_move_gives_no_rates(make: Callable[[], NoDrafter]) -> None:
    metrics = play(make_run(4, tokens=1), make()).finished.metrics
    assert (metrics.tokens_per_s, metrics.draft_step_s, metrics.decode_s) == (None, None, 0.0)
