"""From rounds to the numbers on the cards. Every denominator is defined here and nowhere else.

Knows counts and seconds. Does not know events, models or how a number is shown. A rate without a
denominator is None, never 0, inf or NaN.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from specdemo.core.verify import Fate

LOOP_NGRAM = 8
TOO_SHORT = 25
"""Answers under this many tokens are too short to judge a speedup."""


@dataclass(frozen=True, slots=True)
class Round:
    """The counted part of a round: nothing behind the end of the run is in it.

    fates: of the drafted tokens. emitted: number of ids that joined the text. last: fate of the token after
    the accepted ones, or None where the run ended before it. width: positions of the target pass.
    """

    fates: tuple[Fate, ...]
    emitted: int
    last: Fate | None
    steps: int
    skipped: int
    width: int
    draft_s: float
    verify_s: float
    overhead_s: float


@dataclass(frozen=True, slots=True)
class Metrics:
    """The numbers of one run so far.

    rounds: target passes after prefill. tokens: ids emitted. drafted = accepted + rejected + discarded.
    tested = accepted + rejected; 0, with alpha None and no positions, under a rule that judges whole blocks: there a
    token may lose its own test and still be kept, and only τ says how good the guesses are.
    proposals: rounds in which at least one token was drafted. skipped: tokens a drafter found but withheld; in no rate.
    alpha: accepted / tested; discarded tokens are not in it.
    accepted_per_drafted: accepted / drafted. accepted_per_emitted: accepted / tokens.
    tau: tokens / rounds. passes_saved: tokens − rounds. hit_rate: proposals / rounds.
    lengths[k]: rounds with a proposal that kept k drafted tokens.
    position_tested[i], position_accepted[i]: of the i-th drafted token.
    looped: share of the text's 8-grams that had occurred before in it; None under nine tokens.
    draft_s, verify_s, overhead_s: compute in drafting, in the target pass, and in everything else of a round.
    decode_s: their sum. tokens_per_s: tokens / decode_s. draft_step_s: draft_s / draft steps.
    prefill_s: reading the prompt, target and draft. first_token_s: prefill_s + first round.
    """

    rounds: int
    tokens: int
    drafted: int
    accepted: int
    tested: int
    rejected: int
    discarded: int
    resampled: int
    bonus: int
    plain: int
    proposals: int
    skipped: int
    draft_steps: int
    alpha: float | None
    accepted_per_drafted: float | None
    accepted_per_emitted: float | None
    tau: float | None
    passes_saved: int
    hit_rate: float | None
    lengths: tuple[int, ...]
    position_tested: tuple[int, ...]
    position_accepted: tuple[int, ...]
    looped: float | None
    draft_s: float
    verify_s: float
    overhead_s: float
    decode_s: float
    tokens_per_s: float | None
    draft_step_s: float | None
    prefill_s: float
    first_token_s: float | None


def ratio(part: float, whole: float) -> float | None:
    """part / whole, or None where whole is zero."""
    return part / whole if whole else None


class Tally:
    """Adds up rounds; `metrics()` is a snapshot. One tally per lane.

    tokenwise: the lane's rule keeps or drops each token by a test of its own; False where α is undefined.
    """

    def __init__(self, tokenwise: bool = True) -> None:
        self._tokenwise = tokenwise
        self._fates = dict.fromkeys(Fate, 0)
        self._rounds = self._tokens = self._proposals = self._skipped = self._steps = 0
        self._draft_s = self._verify_s = self._overhead_s = self._prefill_s = 0.0
        self._first_round_s: float | None = None
        self._lengths: list[int] = []
        self._tested_at: list[int] = []
        self._accepted_at: list[int] = []
        self._loops = LoopMeter()

    def prefilled(self, seconds: float) -> None:
        """Adds time spent reading the prompt."""
        self._prefill_s += seconds

    def add(self, r: Round, emitted: Sequence[int]) -> None:
        """Adds a finished round and the ids it emitted."""
        self._rounds += 1
        self._tokens += r.emitted
        self._skipped += r.skipped
        self._steps += r.steps
        self._draft_s += r.draft_s
        self._verify_s += r.verify_s
        self._overhead_s += r.overhead_s
        if self._first_round_s is None:
            self._first_round_s = r.draft_s + r.verify_s + r.overhead_s
        for fate in (*r.fates, *((r.last,) if r.last else ())):
            self._fates[fate] += 1
        if r.fates:
            self._proposals += 1
            accepted = r.fates.count(Fate.ACCEPTED)
            _count(self._lengths, accepted)
            for i, fate in enumerate(r.fates if self._tokenwise else ()):
                if fate is not Fate.DISCARDED:
                    _count(self._tested_at, i)
                    _count(self._accepted_at, i, int(fate is Fate.ACCEPTED))
        self._loops.extend(emitted)

    @property
    def rounds(self) -> int:
        """Rounds so far."""
        return self._rounds

    @property
    def clock_s(self) -> float:
        """Compute of the lane since prefill."""
        return self._draft_s + self._verify_s + self._overhead_s

    def metrics(self) -> Metrics:
        """The numbers so far."""
        accepted, rejected = self._fates[Fate.ACCEPTED], self._fates[Fate.REJECTED]
        discarded = self._fates[Fate.DISCARDED]
        tested = accepted + rejected if self._tokenwise else 0
        drafted = accepted + rejected + discarded
        first = self._first_round_s
        return Metrics(
            rounds=self._rounds,
            tokens=self._tokens,
            drafted=drafted,
            accepted=accepted,
            tested=tested,
            rejected=rejected,
            discarded=discarded,
            resampled=self._fates[Fate.RESAMPLED],
            bonus=self._fates[Fate.BONUS],
            plain=self._fates[Fate.PLAIN],
            proposals=self._proposals,
            skipped=self._skipped,
            draft_steps=self._steps,
            alpha=ratio(accepted, tested),
            accepted_per_drafted=ratio(accepted, drafted),
            accepted_per_emitted=ratio(accepted, self._tokens),
            tau=ratio(self._tokens, self._rounds),
            passes_saved=self._tokens - self._rounds,
            hit_rate=ratio(self._proposals, self._rounds),
            lengths=tuple(self._lengths),
            position_tested=tuple(self._tested_at),
            position_accepted=tuple(self._accepted_at),
            looped=self._loops.share,
            draft_s=self._draft_s,
            verify_s=self._verify_s,
            overhead_s=self._overhead_s,
            decode_s=self.clock_s,
            tokens_per_s=ratio(self._tokens, self.clock_s),
            draft_step_s=ratio(self._draft_s, self._steps),
            prefill_s=self._prefill_s,
            first_token_s=None if first is None else self._prefill_s + first,
        )


def _count(counts: list[int], i: int, by: int = 1) -> None:
    counts.extend([0] * (i + 1 - len(counts)))
    counts[i] += by


class LoopMeter:
    """Share of repeated 8-grams in a growing list of ids. A looping text is easy to guess and earns speedup."""

    def __init__(self) -> None:
        self._recent: list[int] = []
        self._seen: set[tuple[int, ...]] = set()
        self._total = self._repeated = 0

    def extend(self, tokens: Sequence[int]) -> None:
        """Takes in the next ids."""
        for token in tokens:
            self._recent = [*self._recent[-LOOP_NGRAM + 1 :], token]
            if len(self._recent) == LOOP_NGRAM:
                gram = tuple(self._recent)
                self._total += 1
                self._repeated += gram in self._seen
                self._seen.add(gram)

    @property
    def share(self) -> float | None:
        """Repeated 8-grams / all 8-grams; None while there are fewer than two."""
        return self._repeated / self._total if self._total > 1 else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A speculative lane against the baseline lane of the same race.

    tokens: compared by time to the same number of tokens, the smaller of the two counts.
    speedup: baseline seconds / speculative seconds for that many tokens; None if the baseline took no time.
    c: time of one draft step / time of one baseline round. v: median target pass at `width` positions (the most
    common width above one) / median baseline target pass.
    adds_up_to: baseline time of the tokens emitted / time spent, over the whole run: bookkeeping, not a prediction.
    too_short: fewer than 25 tokens, too short to judge.
    """

    tokens: int
    speedup: float | None
    c: float | None
    v: float | None
    width: int | None
    adds_up_to: float | None
    too_short: bool


def compare(speculative: Sequence[Round], baseline: Sequence[Round]) -> Comparison:
    """Speedup, c and v of two lanes that ran side by side."""
    tokens = min(sum(r.emitted for r in speculative), sum(r.emitted for r in baseline))
    fast, slow = time_to(tokens, speculative), time_to(tokens, baseline)
    one = ratio(slow, tokens)
    steps = sum(r.steps for r in speculative)
    speedup = c = v = width = adds_up_to = None
    if one:
        speedup = ratio(slow, fast)
        c = ratio(sum(r.draft_s for r in speculative) / one, steps)
        widths = [r.width for r in speculative if r.width > 1]
        if widths:
            width = max(sorted(set(widths)), key=widths.count)
            v = ratio(
                median([r.verify_s for r in speculative if r.width == width]), median([r.verify_s for r in baseline])
            )
        emitted = sum(r.emitted for r in speculative)
        spent = sum(r.draft_s + r.verify_s + r.overhead_s for r in speculative)
        adds_up_to = ratio(emitted * one, spent)
    return Comparison(tokens, speedup, c, v, width, adds_up_to, tokens < TOO_SHORT)


def time_to(tokens: int, rounds: Sequence[Round]) -> float:
    """Seconds of compute until at least `tokens` ids were emitted."""
    spent, emitted = 0.0, 0
    for r in rounds:
        if emitted >= tokens:
            break
        spent += r.draft_s + r.verify_s + r.overhead_s
        emitted += r.emitted
    return spent


def median(values: Sequence[float]) -> float:
    """The middle value (mean of the two middle ones). Raises on an empty list."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def bootstrap_interval(
    counts: Sequence[tuple[float, float]], seed: int = 0, resamples: int = 2000, level: float = 0.95
) -> tuple[float, float] | None:
    """Interval of Σ part / Σ whole over prompts, by resampling prompts. None with fewer than two usable prompts.

    counts: (part, whole) of each prompt, e.g. (accepted, tested) or (baseline time, time). Tests within a run depend
    on each other, so a binomial interval over tokens would be several times too narrow.
    """
    usable = [pair for pair in counts if pair[1]]
    if len(usable) < 2:
        return None
    rng = random.Random(seed)
    rates = []
    for _ in range(resamples):
        sample = rng.choices(usable, k=len(usable))
        rates.append(sum(part for part, _ in sample) / sum(whole for _, whole in sample))
    rates.sort()
    tail = (1 - level) / 2
    return rates[int(tail * resamples)], rates[min(int((1 - tail) * resamples), resamples - 1)]
