"""Every reason to stop, on toys: nothing behind it is emitted or counted, and nothing is left behind."""

import gc
import weakref
from collections.abc import Sequence

import pytest
from playing import (
    GREEDY,
    PROMPT,
    TARGET,
    VOCABULARY,
    FromTable,
    Sampler,
    Watched,
    Weak,
    drafters,
    golden,
    make_run,
    play,
)

from specdemo.config import SamplingConfig
from specdemo.core.events import (
    Drafted,
    Event,
    Judged,
    Prefilled,
    RoundFinished,
    RunFinished,
    RunStarted,
)
from specdemo.core.sampling import Coin, Shaping
from specdemo.core.verify import Draft
from specdemo.engine import NoDrafter, speculative
from specdemo.errors import PromptError, SettingError
from specdemo.models.toy import ToySession, WordDetokeniser, script


@drafters
@pytest.mark.parametrize("position", range(1, 19))
def test_an_end_token_stops_wherever_it_falls_in_a_block(kind: type[FromTable], position: int) -> None:
    end = golden()[position - 1]
    shaping = Shaping(SamplingConfig(), (end,))
    expected = golden()[: golden().index(end) + 1]
    played = play(make_run(6, shaping), kind(shaping))
    assert played.tokens == expected
    assert (played.finished.finish_reason, played.finished.detail) == ("stop", f"end token {end}")
    assert sum(len(judged.emitted) for judged in played.of(Judged)) == len(expected)


@pytest.mark.parametrize("ends", [(7,), (9, 7), (7, 9), (2, 9), (9, 2), ()])
def test_every_end_token_counts(ends: tuple[int, ...]) -> None:
    """The text passes 2, 9 and 7 inside blocks; the first of the given ones ends it."""
    text = (1, 2, 9, 3, 4, 7, 5, 6)
    table = script(text, start=3, vocabulary=VOCABULARY)
    shaping = Shaping(SamplingConfig(), ends)
    played = play(make_run(6, shaping, tokens=8), FromTable(shaping, table), table)
    assert played.tokens == text[: min((text.index(end) + 1 for end in ends), default=8)]


class Letters(WordDetokeniser):
    """Id 0 is "a", 1 is "b" …"""

    def feed(self, token: int) -> str:
        return chr(ord("a") + token)


@drafters
@pytest.mark.parametrize("first", range(1, 11))
@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_stop_string_ends_ids_pieces_and_text_together(kind: type[FromTable], first: int, width: int) -> None:
    """One to three letters of the text as the stop string: inside a block, across ids, across rounds."""
    table = script([*range(20)], start=3, vocabulary=VOCABULARY)
    stop = "abcdefghijklmnopqrst"[first : first + width]
    run = make_run(5, tokens=20, detokeniser=Letters, stop=("zz", stop))
    played = play(run, kind(GREEDY, table) if kind is not Sampler else kind(GREEDY), table)
    assert played.tokens == tuple(range(first + width))
    assert played.finished.text == "abcdefghijklmnopqrst"[: first + width]
    assert (played.finished.finish_reason, played.finished.detail) == ("stop", stop)
    pieces = [piece for judged in played.of(Judged) for piece in judged.pieces]
    assert "".join(pieces) == played.finished.text
    assert len(pieces) == len(played.tokens) == played.finished.metrics.tokens


def test_a_repeated_stop_string_is_found_across_rounds() -> None:
    table = script([0], start=3, vocabulary=VOCABULARY)
    run = make_run(6, detokeniser=Letters, stop=("aaaa",))
    assert play(run, FromTable(GREEDY, table), table).tokens == (0, 0, 0, 0)


class Halves(WordDetokeniser):
    """Two ids make one character: "" and then the letter of both."""

    def __init__(self) -> None:
        self._first: int | None = None

    def feed(self, token: int) -> str:
        if self._first is None:
            self._first = token
            return ""
        letter, self._first = chr(ord("a") + self._first), None
        return letter

    def flush(self) -> str:
        return "" if self._first is None else "�"


@pytest.mark.parametrize("gamma", [0, 1, 3, 5])
def test_a_character_of_two_ids_appears_when_it_is_whole(gamma: int) -> None:
    table = script([*range(20)], start=3, vocabulary=VOCABULARY)
    played = play(make_run(gamma, tokens=7, detokeniser=Halves), FromTable(GREEDY, table), table)
    pieces = [piece for judged in played.of(Judged) for piece in judged.pieces]
    assert pieces == ["", "a", "", "c", "", "e", ""]
    assert (played.finished.text, played.finished.tail) == ("ace�", "�")
    stopped = play(make_run(gamma, tokens=7, detokeniser=Halves, stop=("c",)), FromTable(GREEDY, table), table)
    assert (stopped.tokens, stopped.finished.text, stopped.finished.tail) == ((0, 1, 2, 3), "ac", "")


def test_a_stop_string_waits_for_the_least_tokens_too() -> None:
    table = script([0, 1, 0, 1, 0, 1, 2], start=3, vocabulary=VOCABULARY)
    shaping = Shaping(SamplingConfig(), (), len(PROMPT) + 3)
    run = make_run(6, shaping, detokeniser=Letters, stop=("b",))
    assert play(run, FromTable(shaping, table), table).tokens == (0, 1, 0, 1)


@drafters
@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_the_limit_is_kept_and_nothing_is_drafted_past_it(kind: type[FromTable], most: int) -> None:
    prompt = (1, 2, 3, 1, 2, 3, 1)
    played = play(make_run(9, tokens=most, prompt=prompt), kind(GREEDY))
    assert len(played.tokens) == most
    assert (played.finished.finish_reason, played.finished.detail) == ("length", "max_new_tokens")
    room = most
    for drafted, judged in zip(played.of(Drafted), played.of(Judged), strict=True):
        assert len(drafted.tokens) <= room - 1
        room -= len(judged.emitted)


def test_more_guesses_than_asked_for_do_not_break_the_limit() -> None:
    class Eager(FromTable):
        def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
            return super().propose(tokens, gamma + 5, coin)

    assert play(make_run(3, tokens=6), Eager(GREEDY)).tokens == golden(tokens=6)


@pytest.mark.parametrize("most", [0, -1])
def test_no_tokens_at_all_is_refused(most: int) -> None:
    drafter = FromTable(GREEDY)
    with pytest.raises(SettingError, match="max_new_tokens"):
        play(make_run(4, tokens=most), drafter)
    assert drafter.closed == 1


@drafters
@pytest.mark.parametrize("length", [30, 38, 39])
def test_the_targets_context_is_a_clear_end(kind: type[FromTable], length: int) -> None:
    prompt = tuple(range(length))
    played = play(make_run(6, tokens=20, prompt=prompt), kind(GREEDY), limit=40)
    assert played.tokens == golden(tokens=40 - length, prompt=prompt)
    assert (played.finished.finish_reason, played.finished.detail) == ("length", "context")
    assert played.of(RunStarted)[0].max_new_tokens == 40 - length


@pytest.mark.parametrize(("prompt", "key"), [((), "prompt_empty"), ((1,) * 40, "prompt_too_long")])
def test_prompts_that_cannot_be_run(prompt: tuple[int, ...], key: str) -> None:
    drafter = FromTable(GREEDY)
    with pytest.raises(PromptError) as refused:
        play(make_run(4, prompt=prompt), drafter, limit=40)
    assert refused.value.key == key
    assert drafter.closed == 1


@pytest.mark.parametrize("rounds", range(6))
def test_cancel_between_any_two_rounds(rounds: int) -> None:
    seen: list[Event] = []
    drafter = Weak(GREEDY)
    run = make_run(3, cancelled=lambda: sum(isinstance(event, RoundFinished) for event in seen) >= rounds)
    for event in speculative(ToySession(TARGET), drafter, run):
        seen.append(event)
    end = seen[-1]
    assert isinstance(end, RunFinished)
    assert (end.finish_reason, end.metrics.rounds, drafter.closed) == ("cancelled", rounds, 1)
    assert end.tokens == golden()[: len(end.tokens)]
    assert len(end.tokens) >= rounds


@pytest.mark.parametrize("chunks", range(4))
def test_cancel_between_any_two_prefill_chunks(chunks: int) -> None:
    seen: list[Event] = []
    target = Watched()
    run = make_run(
        3,
        prompt=(1,) * 1600,
        cancelled=lambda: sum(isinstance(event, Prefilled) for event in seen) >= chunks,
    )
    for event in speculative(target, NoDrafter(), run):
        seen.append(event)
    assert [type(event) for event in seen] == [RunStarted, *[Prefilled] * chunks, RunFinished]
    assert (seen[-1].finish_reason, seen[-1].tokens, seen[-1].text) == ("cancelled", (), "")
    assert len(target.feeds) == chunks


def test_a_cancel_after_the_end_does_not_rename_it() -> None:
    seen: list[Event] = []
    run = make_run(0, tokens=2, cancelled=lambda: len([e for e in seen if isinstance(e, RoundFinished)]) >= 2)
    for event in speculative(ToySession(TARGET), NoDrafter(), run):
        seen.append(event)
    assert seen[-1].finish_reason == "length"


@pytest.mark.parametrize("events", range(1, 9))
def test_leaving_after_any_event_closes_the_drafter_and_frees_the_cache(events: int) -> None:
    """Without the help of the cycle collector: a cache can be gigabytes."""
    target, drafter = ToySession(TARGET), FromTable(GREEDY)
    alive = weakref.ref(target)
    stream = speculative(target, drafter, make_run(3))
    del target
    gc.disable()
    try:
        for _ in range(events):
            next(stream)
        stream.close()
        del stream
        assert drafter.closed == 1
        assert alive() is None
    finally:
        gc.enable()


def test_a_run_to_the_end_closes_the_drafter_once() -> None:
    drafter = FromTable(GREEDY)
    play(make_run(3), drafter)
    assert drafter.closed == 1


@pytest.mark.parametrize("method", ["prefill", "propose", "observe"])
def test_an_error_in_the_drafter_is_not_swallowed_and_closes_it(method: str) -> None:
    drafter = FromTable(GREEDY)

    def broken(*_: object) -> None:
        raise RuntimeError("out of memory")

    setattr(drafter, method, broken)
    with pytest.raises(RuntimeError, match="out of memory"):
        play(make_run(3), drafter)
    assert drafter.closed == 1
