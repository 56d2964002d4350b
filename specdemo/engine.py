"""The decoding loop. Together with `core/verify.py` this is the whole of speculative decoding.

Knows sessions, drafters, laws and clocks by their protocols. Does not know transformers, text encodings,
threads or pages. Both entry points are generators of events: leave one half-way and nothing is left behind.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from specdemo.config import MAX_NEW_TOKENS, REJECTION, whole
from specdemo.core.events import Drafted, Event, Inspected, Judged, Prefilled, RoundFinished, RunFinished, RunStarted
from specdemo.core.ids import behind
from specdemo.core.inspect import inspect_round
from specdemo.core.metrics import Round, Tally
from specdemo.core.policy import Constant
from specdemo.core.protocols import Detokeniser, Drafter, Policy, Session
from specdemo.core.sampling import Coin, Shaping
from specdemo.core.verify import Draft, Fate, Rule, Verdict, verify
from specdemo.errors import PromptError

PREFILL_CHUNK = 512
"""Prompt tokens read at once: bounds the memory of a long prompt and the wait for a cancel."""


@dataclass(frozen=True, slots=True)
class Run:
    """All that the loop needs to know about one lane.

    prompt: ids, at least one. stop: strings that end the run. clock: seconds, waits for the device.
    rule_id: its name. tokenwise: it keeps or drops each token by a test of its own, so α is defined.
    cancelled: asked before every round and prefill chunk. inspect: also emit `Inspected`, outside the clock.
    """

    lane: str
    prompt: tuple[int, ...]
    shaping: Shaping
    max_new_tokens: int
    detokeniser: Callable[[], Detokeniser]
    coin: Coin
    seed: int = 0
    drafter: str = "none"
    policy: Policy = field(default_factory=lambda: Constant(0))
    stop: tuple[str, ...] = ()
    rule: Rule = verify
    rule_id: str = REJECTION
    tokenwise: bool = True
    clock: Callable[[], float] = time.perf_counter
    cancelled: Callable[[], bool] = lambda: False
    inspect: bool = False


def autoregressive(target: Session, run: Run) -> Iterator[Event]:
    """Plain decoding: one target pass per token. The same loop with nothing ever drafted."""
    return speculative(target, NoDrafter(), run)


def speculative(target: Session, drafter: Drafter, run: Run) -> Iterator[Event]:
    """Speculative decoding: draft, check in one target pass, keep or correct; as a stream of events."""
    try:
        output, tally = Output(run, target.limit), Tally(run.tokenwise)
        yield output.started()
        yield from _prefill(target, drafter, run, tally)
        tokens, clock = list(run.prompt), run.clock
        while not output.finished(run.cancelled()):
            number = tally.rounds + 1
            gamma = min(run.policy.gamma(), output.room - 1)

            start = clock()
            draft = drafter.propose(tokens, gamma, run.coin) if gamma > 0 else Draft()
            drafted = clock()
            read = target.extend(behind(tokens, draft.tokens), keep=len(draft.tokens) + 1)
            passed = clock()
            p = run.shaping.laws(read.logits, len(tokens))
            verdict = run.rule(draft, p, run.coin)
            judged = output.take(number, draft, verdict)
            tokens += judged.emitted
            target.rollback(len(tokens) - 1)
            drafter.observe(tokens, verdict, read.hidden)
            run.policy.observe(len(draft.tokens), verdict.accepted)
            end = clock()

            counted = _counted(judged, draft, drafted - start, passed - drafted, end - passed)
            tally.add(counted, judged.emitted)
            yield Drafted(run.lane, number, gamma, tuple(draft.tokens), draft.source, draft.steps, draft.skipped)
            yield judged
            if run.inspect:
                yield Inspected(run.lane, number, inspect_round(draft, verdict, read.logits, p))
            yield RoundFinished(run.lane, number, counted, tally.clock_s, tally.metrics())
        yield output.closing(tally)
    finally:
        drafter.close()


class NoDrafter:
    """Drafts nothing."""

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None = None) -> None:
        pass

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        return Draft()

    def observe(self, tokens: Sequence[int], verdict: Verdict, hidden: Tensor | None = None) -> None:
        pass

    def close(self) -> None:
        pass


def _prefill(target: Session, drafter: Drafter, run: Run, tally: Tally) -> Iterator[Event]:
    """Reads all but the last prompt token; the first round feeds that one and gets its row."""
    last = len(run.prompt) - 1
    for end in [*range(PREFILL_CHUNK, last, PREFILL_CHUNK), last]:
        if run.cancelled():
            return
        start = run.clock()
        hidden = target.extend(run.prompt[:end], keep=0).hidden
        passed = run.clock()
        drafter.prefill(run.prompt[:end], hidden)
        read = run.clock()
        tally.prefilled(read - start)
        yield Prefilled(run.lane, end, passed - start, read - passed)


def _counted(judged: Judged, draft: Draft, draft_s: float, verify_s: float, overhead_s: float) -> Round:
    drawn = judged.emitted_fates[-1] if judged.emitted_fates[-1] is not Fate.ACCEPTED else None
    width = len(draft.tokens) + 1
    return Round(
        judged.fates, len(judged.emitted), drawn, draft.steps, draft.skipped, width, draft_s, verify_s, overhead_s
    )


class Output:
    """The emitted tokens, their text, and every reason to stop. A block is cut at the first of them."""

    def __init__(self, run: Run, limit: int) -> None:
        whole("max_new_tokens", run.max_new_tokens, 1, MAX_NEW_TOKENS)
        if not run.prompt:
            raise PromptError("prompt_empty")
        if len(run.prompt) >= limit:
            raise PromptError("prompt_too_long", tokens=len(run.prompt), limit=limit)
        self._run = run
        self._end_tokens = frozenset(run.shaping.end_tokens)
        self._most = min(run.max_new_tokens, limit - len(run.prompt))
        self._least = run.shaping.first_end - len(run.prompt)
        self._limited_by = "max_new_tokens" if self._most == run.max_new_tokens else "context"
        self._detokeniser = run.detokeniser()
        self._tokens: list[int] = []
        self._text = ""
        self._reason: tuple[str, str] | None = None

    @property
    def room(self) -> int:
        """How many more tokens may be emitted."""
        return self._most - len(self._tokens)

    def finished(self, cancelled: bool) -> bool:
        """True once there is a reason to stop; a cancel is one."""
        if self._reason is None and cancelled:
            self._reason = ("cancelled", "")
        return self._reason is not None

    def take(self, number: int, draft: Draft, verdict: Verdict) -> Judged:
        """Commits a round's tokens up to the first reason to stop and says what became of each."""
        block = verdict.block(draft)
        pieces: list[str] = []
        for token in block:
            pieces.append(self._append(token))
            if self._reason:
                break
        kept = len(pieces)
        fates = [Fate.ACCEPTED] * verdict.accepted + [Fate.REJECTED] * (len(verdict.tests) - verdict.accepted)
        fates += [Fate.DISCARDED] * (len(draft.tokens) - len(fates))
        whole = kept == len(block)
        return Judged(
            lane=self._run.lane,
            round=number,
            fates=tuple(fates if whole else fates[:kept]),
            tests=verdict.tests if whole else verdict.tests[:kept],
            emitted=block[:kept],
            emitted_fates=(*[Fate.ACCEPTED] * verdict.accepted, verdict.fate)[:kept],
            pieces=tuple(pieces),
        )

    def _append(self, token: int) -> str:
        piece = self._detokeniser.feed(token)
        self._tokens.append(token)
        before, self._text = len(self._text), self._text + piece
        if token in self._end_tokens:
            self._reason = ("stop", f"end token {token}")
        elif stop := self._completed_stop(before):
            self._reason = ("stop", stop)
        elif self.room == 0:
            self._reason = ("length", self._limited_by)
        return piece

    def _completed_stop(self, before: int) -> str | None:
        """The stop string that the text added since `before` completed, if the least number of tokens is there."""
        if len(self._tokens) < self._least:
            return None
        found = (stop for stop in self._run.stop if stop in self._text[max(0, before - len(stop) + 1) :])
        return next(found, None)

    def started(self) -> RunStarted:
        """The first event of the lane."""
        run = self._run
        return RunStarted(
            lane=run.lane,
            drafter=run.drafter,
            gamma=run.policy.limit,
            policy=run.policy.name,
            greedy=run.shaping.sampling.greedy,
            seed=run.seed,
            prompt=run.prompt,
            max_new_tokens=self._most,
            rule=run.rule_id,
        )

    def closing(self, tally: Tally) -> RunFinished:
        """The last event of the lane."""
        tail = self._detokeniser.flush()
        reason, detail = self._reason or ("cancelled", "")
        return RunFinished(
            self._run.lane, reason, detail, tuple(self._tokens), self._text + tail, tail, tally.metrics()
        )
