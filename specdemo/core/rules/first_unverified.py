"""Broken on purpose: the first guess is taken as it is and verification begins with the second."""

from dataclasses import replace

from torch import Tensor

from specdemo.core.rules.entry import Badge, Entry, Side
from specdemo.core.sampling import Coin
from specdemo.core.verify import Draft, Fate, Test, Verdict, look, verify


def skip_first(draft: Draft, p: Tensor, coin: Coin) -> Verdict:
    """The first token of every round follows q."""
    if not draft.tokens:
        return verify(draft, p, coin)
    p_x, q_x = look(draft, p)
    rest = replace(draft, tokens=draft.tokens[1:], laws=None if draft.laws is None else draft.laws[1:])
    verdict = verify(rest, p[1:], coin)
    believed = Test(0.0, p_x[0], q_x[0], accepted=True, h=1.0)
    fate = Fate.BONUS if verdict.fate is Fate.PLAIN else verdict.fate
    return Verdict(verdict.accepted + 1, verdict.token, fate, (believed, *verdict.tests))


RULE = Entry(
    id="first-unverified",
    label="First guess unverified",
    badge=Badge.BIASED,
    side=Side.TARGET,
    source="a frequent mistake",
    summary="Takes the first guess of a round without a test",
    judge=skip_first,
)
