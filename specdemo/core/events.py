"""What happens in a run, as frozen records of ints, floats, strings and tuples.

A live run, a recorded trace and a toy model are three sources of the same events; command line, tests,
bench, recorder and page read the same stream. Knows no tensors, no HTML and no language. All times are
seconds of the lane's own compute.
"""

from dataclasses import dataclass, field

from specdemo.config import REJECTION
from specdemo.core.metrics import Metrics, Round
from specdemo.core.verify import LATER, Fate, Test


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A lane begins.

    drafter: id in the registry, "none" for the baseline. gamma: the upper limit of a round.
    prompt: the prompt's ids. max_new_tokens: after the context limit was applied. greedy: no coin matters.
    rule: the verification rule, by id.
    """

    lane: str
    drafter: str
    gamma: int
    policy: str
    greedy: bool
    seed: int
    prompt: tuple[int, ...]
    max_new_tokens: int
    rule: str = field(default=REJECTION, metadata=LATER)


@dataclass(frozen=True, slots=True)
class Prefilled:
    """Target and draft have read the prompt up to `tokens`, which took them so long since the last event."""

    lane: str
    tokens: int
    target_s: float
    draft_s: float


@dataclass(frozen=True, slots=True)
class Drafted:
    """A proposal: `tokens` from `source` in `steps` draft steps, asked for at most `gamma`; `skipped` were withheld."""

    lane: str
    round: int
    gamma: int
    tokens: tuple[int, ...]
    source: str
    steps: int
    skipped: int


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict of a round.

    fates: of the drafted tokens, in order; where the run ended inside the block only those before the end.
    tests: the coin flips (u, p(x), q(x) and, where it is not p/q, h) of the tested tokens.
    emitted: the ids that joined the text. emitted_fates: theirs.
    pieces: the text that each emitted id added; an unfinished character adds "" until it is whole.
    """

    lane: str
    round: int
    fates: tuple[Fate, ...]
    tests: tuple[Test, ...]
    emitted: tuple[int, ...]
    emitted_fates: tuple[Fate, ...]
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """One row of a round, for the inspector. Tops are (id, probability), largest first, at most eight.

    index: 0 … γ; row γ (or the row after an empty draft) is the bonus row: q, residual and β are None there.
    p_top, q_top, residual_top: most likely ids; the residual is norm(max(0, p − q)), whatever the rule drew from.
    beta: Σ min(p, q). p_entropy, q_entropy: nats.
    margin: logit of the first minus logit of the second choice of the target, before any filter.
    """

    index: int
    p_top: tuple[tuple[int, float], ...]
    q_top: tuple[tuple[int, float], ...] | None
    residual_top: tuple[tuple[int, float], ...] | None
    beta: float | None
    p_entropy: float
    q_entropy: float | None
    margin: float


@dataclass(frozen=True, slots=True)
class Inspected:
    """The laws of a round's tested positions and of the row its last token was drawn from. Made outside the clock."""

    lane: str
    round: int
    positions: tuple[Position, ...]


@dataclass(frozen=True, slots=True)
class RoundFinished:
    """A round is over.

    counted: its part in the metrics. clock_s: the lane's compute since prefill. metrics: of the run so far.
    """

    lane: str
    round: int
    counted: Round
    clock_s: float
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The lane ended.

    finish_reason: "stop", "length" or "cancelled". detail: which end token, stop string or limit.
    tail: text flushed at the end (an unfinished character). text: all of it, equal to the joined pieces + tail.
    """

    lane: str
    finish_reason: str
    detail: str
    tokens: tuple[int, ...]
    text: str
    tail: str
    metrics: Metrics


Event = RunStarted | Prefilled | Drafted | Judged | Inspected | RoundFinished | RunFinished
