"""The decoding loop on toys: its text is the target's own, and its cache holds what the text says."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from enumerating import distance, outcomes, random_table, target_law
from playing import (
    FILTERED,
    GREEDY,
    PROMPT,
    SAMPLED,
    TARGET,
    VOCABULARY,
    FromTable,
    Lookup,
    Played,
    Sampler,
    Watched,
    Weak,
    Wrong,
    drafters,
    golden,
    make_run,
    play,
    without_cache,
)
from torch import Tensor

from specdemo.config import SamplingConfig
from specdemo.core.events import (
    Drafted,
    Judged,
    Prefilled,
    RoundFinished,
)
from specdemo.core.sampling import Coin, Shaping
from specdemo.core.verify import Fate
from specdemo.engine import PREFILL_CHUNK, NoDrafter, speculative
from specdemo.models.toy import ToySession, script


def test_the_golden_text_is_no_loop() -> None:
    assert len(set(golden())) >= 20


@drafters
@pytest.mark.parametrize("gamma", [1, 4, 7])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_greedy_text_is_the_targets_own(kind: type[FromTable], gamma: int, length: int) -> None:
    played = play(make_run(gamma, prompt=(10, 11, 12)[:length]), kind(GREEDY))
    assert played.tokens == golden(prompt=(10, 11, 12)[:length])
    assert played.finished.finish_reason == "length"


@drafters
@pytest.mark.parametrize("shaping", [GREEDY, SAMPLED, FILTERED], ids=["greedy", "sampled", "filtered"])
@pytest.mark.parametrize("gamma", [1, 5])
def test_every_round_keeps_what_a_loop_without_cache_keeps(kind: type[FromTable], shaping: Shaping, gamma: int) -> None:
    played = play(make_run(gamma, shaping, seed=7), kind(shaping))
    ids, accepted = without_cache(make_run(gamma, shaping, seed=7), kind(shaping))
    assert list(played.tokens) == ids
    assert played.accepted == accepted


@pytest.mark.parametrize(
    "filters", [SAMPLED, Shaping(SamplingConfig(0.7, top_k=2)), Shaping(SAMPLED.sampling, (2,), 4)]
)
def test_sampled_text_has_exactly_the_targets_law(filters: Shaping) -> None:
    """Every outcome of three tokens over three ids, the last case with an end token that must wait one token."""
    target, draft = random_table(3, 1), random_table(3, 2)
    run = make_run(2, filters, tokens=3, prompt=(0, 1, 0))

    def text(coin: Coin) -> tuple[int, ...]:
        return play(replace(run, coin=coin), FromTable(filters, draft), target).tokens

    expected: dict[tuple[int, ...], float] = {}
    for ids, weight in target_law(target, filters, run.prompt, 3).items():
        ends = [i + 1 for i, token in enumerate(ids) if token in filters.end_tokens]
        cut = ids[: ends[0]] if ends else ids
        expected[cut] = expected.get(cut, 0.0) + weight
    assert distance(outcomes(text), expected) < 1e-6


def test_the_first_guess_of_a_block_is_checked() -> None:
    """After 1 1 1 lookup says 1, the target says something else: a block of one shows whether it was asked."""
    table = script([9, 8], start=3, vocabulary=VOCABULARY)
    played = play(make_run(1, prompt=(1, 1, 1), tokens=2), Lookup(GREEDY), table)
    first = played.of(Judged)[0]
    assert played.of(Drafted)[0].tokens == (1,)
    assert (first.fates, first.emitted, first.emitted_fates) == ((Fate.REJECTED,), (9,), (Fate.RESAMPLED,))


def test_a_draft_that_is_always_wrong_adds_one_token_a_round() -> None:
    prompt = tuple(i % VOCABULARY for i in range(128))
    played = play(make_run(5, prompt=prompt, tokens=12), Wrong(GREEDY))
    assert [len(judged.emitted) for judged in played.of(Judged)] == [1] * 12
    assert [event.metrics.tokens for event in played.of(RoundFinished)] == [*range(1, 13)]
    assert played.finished.metrics.accepted == 0
    assert played.tokens == golden(prompt=prompt, tokens=12)


@pytest.mark.parametrize("gamma", [1, 6])
@pytest.mark.parametrize("least", [0, 1, 5, 6, 7])
def test_least_tokens_are_counted_in_tokens_not_in_rounds(least: int, gamma: int) -> None:
    """The target wants to end from its fourth token on; every drafted position knows how many stand before it."""
    end = 49

    def table(context: Sequence[int]) -> torch.Tensor:
        logits = TARGET(context).clone()
        logits[end] = 30.0 if len(context) >= len(PROMPT) + 3 else -30.0
        return logits

    shaping = Shaping(SamplingConfig(), (end,), len(PROMPT) + least)
    played = play(make_run(gamma, shaping), FromTable(shaping, table), table)
    ids, _ = without_cache(make_run(0, shaping), NoDrafter(), table)
    assert list(played.tokens) == ids
    assert played.tokens.index(end) == max(3, least) == len(played.tokens) - 1


def test_runs_do_not_change_later_runs() -> None:
    """Plain and speculative, twice each in one process: one text."""
    texts = {play(make_run(4, tokens=60), d).tokens for _ in range(2) for d in (NoDrafter(), Sampler(GREEDY))}
    assert texts == {golden(tokens=60)}


@drafters
def test_the_cache_is_one_behind_the_text_after_every_round(kind: type[FromTable]) -> None:
    target, run = Watched(), make_run(4)
    length = len(PROMPT)
    for event in speculative(target, kind(GREEDY), run):
        if isinstance(event, Judged):
            length += len(event.emitted)
        if isinstance(event, RoundFinished):
            assert len(target) == length - 1


@drafters
def test_every_position_is_fed_once_but_for_fallen_guesses(kind: type[FromTable]) -> None:
    prompt = tuple(i % VOCABULARY for i in range(400))
    target = Watched()
    events = list(speculative(target, kind(GREEDY), make_run(4, prompt=prompt, tokens=20)))
    widths = [1 + len(event.tokens) for event in events if isinstance(event, Drafted)]
    assert target.feeds == [399, *widths]
    assert [event.counted.width for event in events if isinstance(event, RoundFinished)] == widths


class Careless(ToySession):
    """A real cache cannot check its content; neither does this one. `shift` spoils every rollback."""

    shift = 0

    def extend(self, tokens: Sequence[int], keep: int):
        cached = self._tokens
        self._tokens = list(tokens[: len(cached)])  # the check sees what it wants to see
        actual = self._table
        self._table = lambda context: actual([*cached, *context[len(cached) :]])
        try:
            return super().extend(tokens, keep)
        finally:
            self._table = actual
            self._tokens = [*cached, *tokens[len(cached) :]]


class ForgetsTooMuch(Careless):
    def rollback(self, length: int) -> None:
        super().rollback(max(length - 1, 0))


class KeepsAFallenGuess(Careless):
    def rollback(self, length: int) -> None:
        fallen = self._tokens[length:][:1]
        super().rollback(length)
        if fallen:
            self._tokens = [*self._tokens[:-1], *fallen]


def test_a_session_that_keeps_a_fallen_guess_is_noticed_in_the_text() -> None:
    events = list(speculative(KeepsAFallenGuess(TARGET), Weak(GREEDY), make_run(4)))
    assert events[-1].tokens != golden()


def test_a_session_that_forgets_too_much_is_noticed_in_the_positions_fed() -> None:
    honest, wasteful = Careless(TARGET), ForgetsTooMuch(TARGET)
    texts = [list(speculative(target, Weak(GREEDY), make_run(4)))[-1].tokens for target in (honest, wasteful)]
    assert texts == [golden(), golden()]
    assert wasteful.fed > honest.fed


@pytest.mark.parametrize("extra", [0, 1, 511, 512, 513, 1024, 1300])
def test_prefill_reads_all_but_the_last_id_in_chunks(extra: int) -> None:
    prompt = tuple(i % VOCABULARY for i in range(extra + 1))
    read: list[int] = []

    class Reader(NoDrafter):
        def prefill(self, tokens: Sequence[int], hidden: Tensor | None = None) -> None:
            assert tuple(tokens) == prompt[: len(tokens)]
            read.append(len(tokens))

    target = Watched()
    played = Played(list(speculative(target, Reader(), make_run(0, prompt=prompt, tokens=1))), target)
    assert [event.tokens for event in played.of(Prefilled)] == read
    assert read[-1] == extra
    assert all(0 <= b - a <= PREFILL_CHUNK for a, b in zip([0, *read], read, strict=False))
    assert target.feeds[-1] == 1
