"""What all matching rules share: the target makes its own choice, and a guess is kept while it is the same.

Knows choices. Does not know how either side chose.
"""

from collections.abc import Iterator, Sequence

from specdemo.core.verify import Draft, Fate, Test, Verdict


def keep_matching(draft: Draft, p_x: Sequence[float], q_x: Sequence[float], choices: Iterator[int]) -> Verdict:
    """Every emitted token is the target's choice from its own law, so the text has the law of these choices.

    choices: γ+1 of them, of which no more are made than are asked for. p_x, q_x: p(x) and q(x) of each guess. The
    choice that differs from a guess replaces it: there is no residual.
    """
    tests: list[Test] = []
    for x, p, q, chosen in zip(draft.tokens, p_x, q_x, choices, strict=False):
        same = chosen == x
        tests.append(Test(0.0, p, q, accepted=same, h=float(same)))
        if not same:
            return Verdict(len(tests) - 1, chosen, Fate.RESAMPLED, tuple(tests))
    return Verdict(len(tests), next(choices), Fate.BONUS if tests else Fate.PLAIN, tuple(tests))
