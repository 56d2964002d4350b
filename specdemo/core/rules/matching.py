"""What all matching rules share: the target makes its own choice, and a guess is kept while it is the same.

Knows laws and a way to choose. Does not know how the draft chose.
"""

from collections.abc import Callable

from torch import Tensor

from specdemo.core.verify import Draft, Fate, Test, Verdict, chances


def keep_matching(draft: Draft, p: Tensor, choose: Callable[[Tensor], int]) -> Verdict:
    """Every emitted token is the target's choice from its law `[V]`, so the text has the law of `choose`.

    The choice that differs from a guess replaces it: there is no residual.
    """
    gamma = len(draft.tokens)
    tests: list[Test] = []
    for i, (x, p_x, q_x) in enumerate(zip(draft.tokens, chances(p, draft.tokens), draft.chances(), strict=True)):
        chosen = choose(p[i])
        same = chosen == x
        tests.append(Test(0.0, p_x, q_x, accepted=same, h=float(same)))
        if not same:
            return Verdict(i, chosen, Fate.RESAMPLED, tuple(tests))
    return Verdict(gamma, choose(p[gamma]), Fate.BONUS if gamma else Fate.PLAIN, tuple(tests))
