"""Ours beside transformers' own `generate`: same weights, dtype, prompts, tokens, threads; alternated in one process.

Knows pairs and `generate`. Does not know tables or the command line. Everything here runs on the device thread.
Greedy only, so that equal texts can be asked for. Both systems are timed by the same clock around the same two
moments: the first new tokens are there, the last one is.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import torch
from transformers.generation.streamers import BaseStreamer

from specdemo import lanes
from specdemo.bench.limits import limit
from specdemo.bench.measure import require_fitting
from specdemo.bench.peer_methods import AnyArchitecture, Method
from specdemo.bench.plan import Plan
from specdemo.config import RunConfig
from specdemo.core.events import RoundFinished, RunFinished
from specdemo.core.metrics import ratio
from specdemo.core.result import first_divergence
from specdemo.models.loader import Pair
from specdemo.prompts import Prompt

OURS, THEIRS = "specdemo", "transformers"
WARM_UP_TOKENS = 8


@dataclass(frozen=True, slots=True)
class PeerRow:
    """One system decoding one prompt by one method once.

    total_s: everything, prompt included. first_s: until the first new tokens were there. tokens: new ones. rest: those
    after the first tokens; tokens_per_s: rest / (total_s − first_s), None where nothing was left.
    end_to_end: tokens / total_s. identical: the same tokens as transformers' plain greedy decoding; else divergence
    is the index of the first other one and gap the target's top-1 minus top-2 logit there.
    limit_s: what the rounds after the first would take if only model time counted, at costs measured apart;
    over_limit: (total_s − first_s) / limit_s. Both of ours only.
    """

    system: str
    method: str
    prompt: str
    group: str
    repeat: int
    tokens: int
    rest: int
    first_s: float
    total_s: float
    tokens_per_s: float | None
    end_to_end: float | None
    identical: bool
    divergence: int | None
    gap: float | None
    limit_s: float | None
    over_limit: float | None


@dataclass(frozen=True, slots=True)
class Decoded:
    """The new tokens of a run and when they came: (seconds since the start, number of tokens) of each delivery.

    rounds: (draft steps, positions of the target pass) behind each delivery; of ours only.
    """

    tokens: tuple[int, ...]
    deliveries: tuple[tuple[float, int], ...]
    rounds: tuple[tuple[int, int], ...] = ()


def compare(pair: Pair, plan: Plan, ways: Sequence[Method]) -> Iterator[PeerRow]:
    """Every prompt `repeat` times by every method, both systems in turn and each first every other time."""
    require_fitting(pair, plan)
    generic = cast(Pair, AnyArchitecture(pair)) if any(way.generic for way in ways) else pair
    systems = {OURS: ours, THEIRS: theirs}
    for way in ways:
        for decode in systems.values():
            decode(generic if way.generic else pair, way, way.config(plan.prompts[0], WARM_UP_TOKENS, plan.raw))
    for prompt in plan.prompts:
        reference = theirs(pair, ways[0], ways[0].config(prompt, plan.max_new_tokens, plan.raw)).tokens
        for turn in range(plan.repeat):
            for way in ways:
                config = way.config(prompt, plan.max_new_tokens, plan.raw)
                seen = generic if way.generic else pair
                for system in (OURS, THEIRS) if turn % 2 == 0 else (THEIRS, OURS):
                    decoded = systems[system](seen, way, config)
                    gap = _gap(seen, config, decoded.tokens, reference)
                    rest = limit(seen, config, decoded.tokens, decoded.rounds[1:])
                    yield row(system, way, prompt, turn, decoded, reference, rest, gap)


def row(
    system: str,
    way: Method,
    prompt: Prompt,
    repeat: int,
    decoded: Decoded,
    reference: tuple[int, ...],
    limit_s: float | None = None,
    gap: float | None = None,
) -> PeerRow:
    """The row of a run."""
    (first_s, first), (total_s, _) = decoded.deliveries[0], decoded.deliveries[-1]
    tokens = len(decoded.tokens)
    divergence = first_divergence(decoded.tokens, reference)
    return PeerRow(
        system=system,
        method=way.name,
        prompt=prompt.id,
        group=prompt.group,
        repeat=repeat,
        tokens=tokens,
        rest=tokens - first,
        first_s=first_s,
        total_s=total_s,
        tokens_per_s=ratio(tokens - first, total_s - first_s) if tokens > first else None,
        end_to_end=ratio(tokens, total_s),
        identical=divergence is None,
        divergence=divergence,
        gap=gap,
        limit_s=limit_s,
        over_limit=ratio(total_s - first_s, limit_s) if limit_s else None,
    )


def ours(pair: Pair, way: Method, config: RunConfig) -> Decoded:
    """Our decoder: the wall time of a lane with all its events, tokenising left out as for transformers."""
    deliveries: list[tuple[float, int]] = []
    rounds: list[tuple[int, int]] = []
    tokens: tuple[int, ...] = ()
    events = lanes.open_lane(pair, config, OURS)
    next(events)  # the run has been set up and the prompt encoded; nothing has been computed
    start = pair.clock()
    for event in events:
        if isinstance(event, RoundFinished):
            deliveries.append((pair.clock() - start, event.counted.emitted))
            rounds.append((event.counted.steps, event.counted.width))
        elif isinstance(event, RunFinished):
            tokens = event.tokens
    return Decoded(tokens, tuple(deliveries), tuple(rounds))


def _gap(pair: Pair, config: RunConfig, tokens: tuple[int, ...], reference: tuple[int, ...]) -> float | None:
    """The target's top-1 minus top-2 logit where two texts part: small where rounding alone explains it."""
    at = first_divergence(tokens, reference)
    if at is None:
        return None
    context = [*pair.text.encode(config.prompt, config.raw), *reference[:at]]
    top = pair.target().extend(context, keep=1).logits[-1].float().topk(2).values
    return float(top[0] - top[1])


def theirs(pair: Pair, way: Method, config: RunConfig) -> Decoded:
    """transformers' `generate` on the same weights, greedy."""
    model = pair.model  # the very weights that our sessions run
    draft = pair.draft_model if way.drafter == "model" else None
    ids = torch.tensor([pair.text.encode(config.prompt, config.raw)], device=model.device)
    stamps = Stamps(pair.clock)
    with torch.inference_mode(), constant_draft(model if draft is None else draft, config.gamma):
        output = model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=config.max_new_tokens,
            do_sample=False,
            eos_token_id=list(pair.end_tokens),
            pad_token_id=pair.end_tokens[0],
            streamer=stamps,
            **way.options(draft),
        )
    return Decoded(tuple(output[0, ids.shape[1] :].tolist()), tuple(stamps.deliveries))


class Stamps(BaseStreamer):  # type: ignore[misc]
    """A streamer that only notes when how many tokens arrive."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.deliveries: list[tuple[float, int]] = []
        self._clock = clock
        self._start: float | None = None

    def put(self, value: torch.Tensor) -> None:
        if self._start is None:  # the prompt comes first, before anything is computed
            self._start = self._clock()
        else:
            self.deliveries.append((self._clock() - self._start, value.numel()))

    def end(self) -> None:
        pass


@contextmanager
def constant_draft(model: Any, gamma: int) -> Iterator[None]:
    """γ tokens every round and no confidence stop. `generate` reads these from `model`, the assistant, which may be
    the target itself.
    """
    wanted = {
        "num_assistant_tokens": gamma or None,
        "num_assistant_tokens_schedule": "constant",
        "assistant_confidence_threshold": 0.0,
    }
    before = {name: getattr(model.generation_config, name, None) for name in wanted}
    model.generation_config.update(**wanted)
    try:
        yield
    finally:
        model.generation_config.update(**before)
