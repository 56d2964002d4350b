"""What the engine needs from a model, a drafter and a detokeniser. No implementation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Tensor

from specdemo.core.sampling import Coin, Draw, Drawing
from specdemo.core.verify import Draft, Verdict


@dataclass(frozen=True, slots=True)
class Pass:
    """Result of a forward pass.

    logits: `[keep, V]`; of a draft that can say R ids only `[keep, R]`. hidden: `[n, H]`, the last hidden states of
    all n tokens that were fed, as the output head reads them; None where the model has none (a table).
    """

    logits: Tensor
    hidden: Tensor | None = None


class Session(Protocol):
    """A model with a cache of its own that knows its own length."""

    @property
    def limit(self) -> int:
        """The most tokens that fit (context length)."""
        ...

    def extend(self, tokens: Sequence[int], keep: int) -> Pass:
        """Feeds `tokens[len(self):]` and returns the last `keep` rows.

        `tokens` is the whole sequence; what the cache holds must be a prefix of it. After the call
        `len(self) == len(tokens)`. Raises ValueError if fewer than `keep` tokens are new.
        """
        ...

    def rollback(self, length: int) -> None:
        """Forgets everything past `length`; ValueError if `length` is negative or beyond the end."""
        ...

    def __len__(self) -> int: ...


class Drafter(Protocol):
    """Proposes tokens. Built for one run with that run's shaping; sees only the committed tokens.

    hidden: the target's last hidden states of its latest pass, for drafters that read them.
    """

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None = None) -> None:
        """Reads a prefix of the prompt, which grows from call to call. Not on the decoding clock.

        hidden: `[new, H]`, one row for each token that was not in the prefix of the call before.
        """
        ...

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        """At most `gamma` ≥ 1 tokens to follow `tokens`; may be fewer, may be none."""
        ...

    def observe(self, tokens: Sequence[int], verdict: Verdict, hidden: Tensor | None = None) -> None:
        """Learns what became of its proposal; `tokens` is the committed sequence after the round.

        hidden: `[1 + drafted, H]`: of the token that was last before the round, then of the proposal. Only the first
        `1 + verdict.accepted` rows are of committed tokens.
        """
        ...

    def close(self) -> None:
        """Frees caches. Called once, also when the run is abandoned."""
        ...


class Policy(Protocol):
    """Chooses γ for each round."""

    @property
    def name(self) -> str: ...

    @property
    def limit(self) -> int:
        """The most it will ever ask for."""
        ...

    def gamma(self) -> int:
        """How many tokens to ask for in the next round."""
        ...

    def observe(self, drafted: int, accepted: int) -> None:
        """Learns the outcome of a round."""
        ...


class Detokeniser(Protocol):
    """Turns a growing list of ids into text without ever taking a character back. One per run."""

    def feed(self, token: int) -> str:
        """The text that became final with this id; "" while a character is unfinished."""
        ...

    def flush(self) -> str:
        """What is left at the end (an unfinished character as U+FFFD), "" if nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Tables:
    """What a net trained for the target borrows from it.

    embedding: input rows `[≥ V, H]`. head: output rows `[≥ V, H]`. linear: a weight `[out, in]` as the fastest
    x `[n, in]` → `[n, out]` of this machine, which may keep the weight in fewer bits. norm: the same for a root mean
    square norm, from a weight `[H]` and an ε.
    ready: what drafters made of them once, for the next run.
    """

    embedding: Tensor
    head: Tensor
    linear: Callable[[Tensor], Callable[[Tensor], Tensor]]
    norm: Callable[[Tensor, float], Callable[[Tensor], Tensor]]
    ready: dict[object, Any] = field(default_factory=dict, compare=False)


class ModelAccess(Protocol):
    """What drafters may use of the loaded models. Every session is a new one with a cache of its own."""

    @property
    def vocabulary(self) -> int:
        """V: number of ids shared by target and draft; logits have exactly so many columns."""
        ...

    @property
    def name(self) -> str:
        """The target's name, for default files made for it."""
        ...

    def draft(self) -> Session:
        """The pair's draft model. PairError if the pair has none."""
        ...

    def target(self) -> Session:
        """The target itself. For the controls only: no real deployment could afford it."""
        ...

    def prefix(self, layers: int) -> Session:
        """The target's first `layers` layers with its own norm and head. SettingError if there are not so many."""
        ...

    def quantised(self, scheme: str) -> Session:
        """A quantised copy of the target, "nf4" or "int8". PairError with the reason where it cannot be made."""
        ...

    def recorded(self, draw: Draw) -> Drawing | None:
        """The same function, recorded; None where the device gains nothing from that."""
        ...

    def tables(self) -> Tables:
        """The target's input and output rows, for nets trained for it. PairError where there are none."""
        ...
