"""Looks the continuation up where the text repeats itself, and asks the feature head where it does not.

Knows the two drafters and the rule between them: a match of at least `min_n` ids is copied, the longer the match the
more of it; else the head drafts as long as the whole draft is likely enough to be right. `Draft.source` says who
spoke. Does not know how either works.
"""

from collections.abc import Sequence

from torch import Tensor

from specdemo.core.protocols import Drafter
from specdemo.core.sampling import Coin
from specdemo.core.verify import Draft, Verdict
from specdemo.drafters import feature_head
from specdemo.drafters.feature_head import FeatureHead, FeatureSession
from specdemo.drafters.model import confidence
from specdemo.drafters.prompt_lookup import PromptLookup
from specdemo.drafters.registry import Setup

LONGEST_MATCH = 8


def make(setup: Setup) -> "Hybrid":
    """`PairError` if there is no head for the target or it does not fit."""
    least = int(setup.knobs["min_n"])
    longest = max(least, LONGEST_MATCH)
    lookup = PromptLookup(longest, least, 1, setup.access.vocabulary, setup.shaping.end_tokens)
    head = CautiousHead(feature_head.session(setup), setup, float(setup.knobs["sure"]))
    return Hybrid(lookup, head, int(setup.knobs["copy"]), int(setup.knobs["head_most"]))


class CautiousHead(FeatureHead):
    """Takes another step only while the chance that its whole draft so far is kept is at least `sure`.

    What was computed is always proposed: a few more positions cost the target's pass next to nothing, a step does.
    """

    def __init__(self, session: FeatureSession, setup: Setup, sure: float) -> None:
        super().__init__(session, setup)
        self._heat = min(setup.shaping.sampling.temperature, 1.0)
        self._sure = sure
        self._chance = 1.0

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        self._chance = 1.0
        return super().propose(tokens, gamma, coin)

    def _goes_on(self, logits: Tensor) -> bool:
        self._chance *= kept(confidence(logits), self._heat)
        return self._chance >= self._sure


def kept(confidence: float, heat: float) -> float:
    """The chance that the target keeps a token, from the head's largest probability at temperature 1.

    heat: the run's temperature, 1 at most. A fit to the default's held-out answers, where a confidence of .1, .5 and
    .95 was kept in .19, .56 and .98 of the cases at temperature 0, and in .28, .47 and .91 at temperature 1.
    """
    return confidence + heat * (0.2 - 0.3 * confidence)


class Hybrid:
    """A copy of up to `copy` ids per matched id, or up to `head_most` ids of the head's."""

    def __init__(self, lookup: PromptLookup, head: Drafter, copy: int, head_most: int) -> None:
        self._lookup, self._head = lookup, head
        self._copy, self._head_most = copy, head_most

    def prefill(self, tokens: Sequence[int], hidden: Tensor | None = None) -> None:
        self._lookup.prefill(tokens)
        self._head.prefill(tokens, hidden)

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        """The lookup's proposal if it has one, else the head's."""
        found = self._lookup.match(tokens)
        if found:
            return self._lookup.propose(tokens, min(gamma, self._copy * found[0]), coin)
        return self._head.propose(tokens, min(gamma, self._head_most), coin)

    def observe(self, tokens: Sequence[int], verdict: Verdict, hidden: Tensor | None = None) -> None:
        self._lookup.observe(tokens, verdict)
        self._head.observe(tokens, verdict, hidden)

    def close(self) -> None:
        self._lookup.close()
        self._head.close()
