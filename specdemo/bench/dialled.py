"""How fast a pair of given shapes would decode at a given acceptance. Everything here runs on the device thread.

Knows random models, sessions and runs. The draft model pays for every step and the target for every pass; the rule is
run in full too. Only what it found is replaced: proposals are kept with a chance that is set beforehand, because the
guesses of random weights say nothing.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from rich.table import Table

from specdemo.bench.floor import Floor, measure_floor
from specdemo.bench.limits import model_time
from specdemo.bench.shapes import SHAPES, build
from specdemo.bench.transfers import per_round
from specdemo.config import SamplingConfig
from specdemo.core import theory
from specdemo.core.events import Event, RoundFinished
from specdemo.core.metrics import compare, ratio
from specdemo.core.policy import Constant
from specdemo.core.result import LaneResult, Results
from specdemo.core.sampling import Coin, SeededCoin, Shaping
from specdemo.core.verify import Draft, Fate, Rule, Test, Verdict, verify
from specdemo.costs import Costs, measure_costs
from specdemo.device import race
from specdemo.drafters.model import SessionDrafter
from specdemo.engine import Run, autoregressive, speculative
from specdemo.lanes import BASELINE
from specdemo.models.decoder import Decoder
from specdemo.models.hf_session import context_limit, head_rows
from specdemo.models.quantise import tensor_bytes
from specdemo.terminal import number

GAMMAS = tuple(range(1, 9))


@dataclass(frozen=True, slots=True)
class Dials:
    """alpha: chance that a proposal is kept. context: ids before the first new one."""

    alpha: float
    max_new_tokens: int
    seed: int = 0
    context: int = 128


@dataclass(frozen=True, slots=True)
class Models:
    """What was built. path: see `Decoder`. floor: of the target."""

    target: str
    draft: str
    target_bytes: int
    draft_bytes: int
    path: str
    floor: Floor


@dataclass(frozen=True, slots=True)
class DialledRow:
    """One γ. alpha, tau: as it came out. speedup: measured in the race. predicted: τ / (γc + v(γ+1)) at the dialled α.

    limit: the speedup if only model time counted, for the run's own rounds; c, v and limit are of a micro-benchmark.
    over_limit: decoding time / model time of these rounds. other: share of decoding that is no model pass.
    """

    gamma: int
    tokens: int
    alpha: float | None
    tau: float | None
    tokens_per_s: float | None
    speedup: float | None
    predicted: float
    limit: float | None
    over_limit: float | None
    other: float | None


@dataclass(frozen=True, slots=True)
class Waits:
    """Transfers from device to host, each of which the host waits for: a token alone, a round with a draft."""

    plain: float | None
    drafted: float | None


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that was measured. floor_share: memory floor / a step of the baseline."""

    models: Models
    waits: Waits | None
    tokens_per_s: float | None
    floor_share: float | None
    c: float
    v: tuple[tuple[int, float], ...]
    rows: tuple[DialledRow, ...]


Step = Models | Costs | Waits | Event


def steps(names: tuple[str, str], dtype: torch.dtype, device: str, dials: Dials) -> Iterator[Step]:
    """Builds both models, measures costs, then races the baseline against every γ."""
    clock = clock_of(device)
    target, draft = (build(name, SHAPES[name], dtype, device) for name in names)
    vocabulary = min(head_rows(target), head_rows(draft))
    running = Decoder(target), Decoder(draft)
    floor = measure_floor(target, clock)
    yield Models(*names, tensor_bytes(target), tensor_bytes(draft), running[0].path, floor)
    yield from measured(running, vocabulary, context_limit(target), dials, clock)


def measured(
    models: tuple[Decoder, Decoder], vocabulary: int, limit: int, dials: Dials, clock: Callable[[], float]
) -> Iterator[Costs | Waits | Event]:
    """Costs behind the middle of the run, transfers a round, then the events of the race. models: target and draft."""
    target, draft = models
    ids = random.Random(dials.seed)
    context = tuple(ids.randrange(vocabulary) for _ in range(dials.context))
    greedy = Shaping(SamplingConfig(0.0))
    middle = [*context, *context[: dials.max_new_tokens // 2]]

    def drafter() -> SessionDrafter:
        return SessionDrafter(draft.session(vocabulary), greedy, "draft model", argmax=True)

    yield measure_costs(target.session(vocabulary), drafter(), middle, clock, range(1, GAMMAS[-1] + 2))

    plain = Run(BASELINE, context, greedy, dials.max_new_tokens, Silent, SeededCoin(dials.seed), clock=clock)

    def baseline() -> Iterator[Event]:
        return autoregressive(target.session(vocabulary), replace(plain, coin=SeededCoin(dials.seed)))

    def drafted(gamma: int) -> Iterator[Event]:
        run = replace(plain, lane=f"γ{gamma}", drafter="model", policy=Constant(gamma), coin=SeededCoin(dials.seed))
        run = replace(run, rule=dialled(dials.alpha, random.Random(dials.seed)))
        return speculative(target.session(vocabulary), drafter(), run)

    yield Waits(per_round(baseline()), per_round(drafted(4)))
    yield from race({BASELINE: baseline()} | {f"γ{gamma}": drafted(gamma) for gamma in GAMMAS})


def dialled(alpha: float, luck: random.Random) -> Rule:
    """Rejection sampling that keeps each proposal with chance `alpha`, whatever the laws say, at its own full cost."""

    def judge(draft: Draft, p: torch.Tensor, coin: Coin) -> Verdict:
        found = verify(draft, p, coin)
        gamma = len(draft.tokens)
        kept = next((i for i in range(gamma) if luck.random() >= alpha), gamma)
        tests = tuple(Test(0.0, alpha, 1.0, accepted=i < kept) for i in range(min(kept + 1, gamma)))
        fate = Fate.RESAMPLED if kept < gamma else Fate.BONUS if gamma else Fate.PLAIN
        return Verdict(kept, found.token, fate, tests)

    return judge


class Silent:
    """A detokeniser for ids that stand for nothing."""

    def feed(self, token: int) -> str:
        return ""

    def flush(self) -> str:
        return ""


def clock_of(device: str) -> Callable[[], float]:
    """Seconds, after all that was asked of the device is done."""

    def clock() -> float:
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    return clock


def total(dials: Dials) -> int:
    """What `amount` adds up to."""
    return 3 + dials.max_new_tokens * (1 + len(GAMMAS))


def amount(step: Step) -> int:
    """How far a step brings the bench: tokens of all lanes, and one for models, costs and transfers each."""
    if isinstance(step, RoundFinished):
        return step.counted.emitted
    return int(isinstance(step, Models | Costs | Waits))


def name(step: Step) -> str:
    """For the progress bar."""
    return "measuring costs" if isinstance(step, Models) else "racing"


def report(dials: Dials, steps: Sequence[Step]) -> Measured | None:
    """What the steps add up to, also if they broke off; None before anything was measured."""
    models = next((step for step in steps if isinstance(step, Models)), None)
    costs = next((step for step in steps if isinstance(step, Costs)), None)
    if models is None or costs is None:
        return None
    results = Results()
    for step in steps:
        if not isinstance(step, Models | Costs | Waits):
            results.add(step)
    base = results.lanes.get(BASELINE, LaneResult())
    rate = base.metrics.tokens_per_s if base.metrics else None
    lanes = [(gamma, results.lanes.get(f"γ{gamma}", LaneResult())) for gamma in GAMMAS]
    return Measured(
        models=models,
        waits=next((step for step in steps if isinstance(step, Waits)), None),
        tokens_per_s=rate,
        floor_share=models.floor.share(1 / rate) if rate else None,
        c=costs.c,
        v=tuple((n, costs.v(n)) for n, _ in costs.passes),
        rows=tuple(_row(gamma, lane, base, costs, dials) for gamma, lane in lanes if lane.metrics),
    )


def _row(gamma: int, lane: LaneResult, base: LaneResult, costs: Costs, dials: Dials) -> DialledRow:
    m = lane.metrics
    assert m is not None
    rounds = [(r.steps, r.width) for r in lane.rounds]
    model_s = model_time(rounds, costs)
    return DialledRow(
        gamma=gamma,
        tokens=m.tokens,
        alpha=m.alpha,
        tau=m.tau,
        tokens_per_s=m.tokens_per_s,
        speedup=compare(lane.rounds, base.rounds).speedup,
        predicted=theory.speedup(dials.alpha, gamma, costs.c, costs.v),
        limit=ratio(m.tokens * costs.t(1), model_s),
        over_limit=ratio(m.decode_s, model_s),
        other=ratio(m.overhead_s, m.decode_s),
    )


def tables(found: Measured) -> Iterator[Table | str]:
    """The models, the baseline, then a line per γ."""
    m, v = found.models, "  ".join(f"v({n}) {value:.2f}" for n, value in found.v)
    yield (
        f"{m.target} ({m.target_bytes / 1e6:,.0f} MB, {m.path}) drafted by {m.draft} ({m.draft_bytes / 1e6:,.0f} MB); "
        "random weights: the costs are real, acceptance is dialled."
    )
    yield (
        f"Plain decoding {number(found.tokens_per_s, 1)} tokens/s, {number(found.floor_share)} of the memory floor "
        f"({m.floor.seconds * 1000:.2f} ms at {m.floor.bandwidth / 1e9:,.1f} GB/s). c {found.c:.3f}  {v}"
    )
    if waits := found.waits:
        yield f"Transfers to the host: {number(waits.plain)} a token alone, {number(waits.drafted)} a round drafted."
    table = Table()
    heads = ("γ", "α", "τ", "tokens/s", "speedup", "predicted", "limit of its rounds", "time / limit", "other")
    for head in heads:
        table.add_column(head, justify="right")
    for r in found.rows:
        table.add_row(
            number(r.gamma),
            number(r.alpha),
            number(r.tau),
            number(r.tokens_per_s, 1),
            f"×{number(r.speedup)}",
            f"×{number(r.predicted)}",
            f"×{number(r.limit)}",
            number(r.over_limit, 3),
            "–" if r.other is None else f"{r.other:.1%}",
        )
    yield table
