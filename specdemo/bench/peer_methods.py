"""The ways to decode that both systems have, and what each needs of a pair. Knows pairs; decodes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from specdemo.config import RunConfig
from specdemo.models.decoder import LEAN
from specdemo.models.hf_session import HFSession
from specdemo.models.loader import Pair
from specdemo.models.packed import with_packed_layers
from specdemo.prompts import Prompt

PLAIN = "plain decoding"


@dataclass(frozen=True, slots=True)
class Method:
    """One way to decode that both systems have.

    layers: of the early exit, 0 for the other methods. generic: ours by the pass that any architecture has, even
    where the model's family has a pass of its own.
    """

    name: str
    drafter: str = "none"
    gamma: int = 0
    layers: int = 0
    generic: bool = False

    def config(self, prompt: Prompt, max_new_tokens: int, raw: bool) -> RunConfig:
        """Our settings. They repeat transformers' where it has fixed ones: a constant γ and no confidence stop."""
        knobs = (("layers", str(self.layers)),) if self.layers else ()
        return RunConfig(
            prompt.text,
            drafter=self.drafter,
            gamma=self.gamma,
            max_new_tokens=max_new_tokens,
            raw=raw,
            knobs=knobs,
        )

    def options(self, draft: Any) -> dict[str, Any]:
        """The options of `generate` that ask for it. draft: the pair's draft as a transformers model."""
        if self.drafter == "model":
            return {"assistant_model": draft}
        if self.layers:
            return {"assistant_early_exit": self.layers}
        return {"prompt_lookup_num_tokens": self.gamma} if self.gamma else {}


def methods_for(pair: Pair, gammas: Sequence[int], layers: int) -> tuple[Method, ...]:
    """Every method that makes sense for a pair: see `methods`."""
    draft = pair.draft_model
    # With heads of different sizes transformers asks for two tokenizers and decodes another way.
    same_ids = draft is not None and draft.config.vocab_size == pair.model.config.vocab_size
    return methods(gammas, layers, draft=same_ids, generic=pair.path == LEAN)


def methods(gammas: Sequence[int], layers: int, draft: bool = False, generic: bool = False) -> tuple[Method, ...]:
    """Plain decoding, then for each γ prompt lookup, the first `layers` layers, and the draft model if there is one.

    generic: plain decoding also by the pass that any architecture has.
    """
    found = [Method(PLAIN)]
    if generic:
        found.append(Method(f"{PLAIN}, any architecture", generic=True))
    for gamma in gammas:
        found.append(Method(f"prompt lookup γ{gamma}", "prompt-lookup", gamma))
        found.append(Method(f"first {layers} layers γ{gamma}", "layer-skip", gamma, layers))
        if draft:
            found.append(Method(f"draft model γ{gamma}", "model", gamma))
    return tuple(found)


class AnyArchitecture:
    """A pair whose target runs transformers' own pass over packed layers, as for a family without a pass of ours."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._run = with_packed_layers(pair.model)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pair, name)

    def target(self) -> HFSession:
        return HFSession(self._run, self._pair.vocabulary)
