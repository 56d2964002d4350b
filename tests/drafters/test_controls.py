"""The yardsticks: oracle, dial α, random."""

import pytest
import torch
from enumerating import mean, outcomes, random_table
from toy_lanes import GREEDY, WARM, Bench, drafted, finished, metrics, toy

from specdemo import drafters
from specdemo.config import SamplingConfig
from specdemo.core import theory
from specdemo.core.sampling import Coin, SeededCoin, Shaping
from specdemo.core.verify import verify
from specdemo.drafters.dial_alpha import dialled
from specdemo.models.toy import ToyAccess, ToySession


def bench() -> Bench:
    return Bench(toy(), table=None)  # type: ignore[arg-type]  # no n-gram drafter here


@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "warm"])
def test_oracle_is_always_right(sampling: SamplingConfig) -> None:
    """At every place of the block, also after other texts were tried (D02)."""
    numbers = metrics(bench().events("oracle", {}, [1, 2, 3], gamma=4, new=41, sampling=sampling))
    assert numbers.alpha == 1.0
    assert numbers.position_accepted == numbers.position_tested == (8,) * 4
    assert numbers.tau == pytest.approx(41 / 9)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_dialled_acceptance_is_exact(alpha: float, temperature: float) -> None:
    """β = α + (1 − α)·p(m), by the formula and by visiting every outcome of draft and test."""
    table, shaping, prompt = random_table(4, 5), Shaping(SamplingConfig(temperature)), (0, 3, 1)
    p = shaping.laws(ToySession(table).extend(prompt, keep=1).logits, len(prompt))
    expected = alpha + (1 - alpha) * float(p.min())
    q = dialled(p, alpha)
    assert float(torch.minimum(p, q).sum()) == pytest.approx(expected, abs=1e-6)
    assert float(q.sum()) == pytest.approx(1.0, abs=1e-6)

    def accepted(coin: Coin) -> int:
        drafter = drafters.build("dial-alpha", ToyAccess(table, table, 4), shaping, {"alpha": alpha})
        draft = drafter.propose(prompt, 1, coin)
        laws = ToySession(table).extend([*prompt, *draft.tokens], keep=2).logits
        return verify(draft, shaping.laws(laws, len(prompt)), coin).accepted

    assert mean(outcomes(accepted), float) == pytest.approx(expected, abs=1e-6)


def test_dialled_runs_follow_the_theory() -> None:
    """Greedy, α = 0.7, γ = 3: acceptance is i.i.d., so τ is the formula's. 1,500 tests: 5 deviations are 0.06."""
    runs = [
        bench().events("dial-alpha", {"alpha": 0.7}, [1, i], gamma=3, new=60, coin=SeededCoin(i)) for i in range(20)
    ]
    assert {len(event.tokens) for events in runs for event in drafted(events)[:-2]} == {3}
    tested = sum(metrics(events).tested for events in runs)
    assert sum(metrics(events).accepted for events in runs) / tested == pytest.approx(0.7, abs=0.06)
    tau = sum(metrics(events).tokens for events in runs) / sum(metrics(events).rounds for events in runs)
    assert tau == pytest.approx(theory.tau(0.7, 3), abs=0.2)


def test_dial_drafts_on_past_an_end_token() -> None:
    """The wrong token it draws may be one; the block stays as long as theory has it."""
    access = ToyAccess(random_table(4, 5), random_table(4, 5), 4)
    drafter = drafters.build("dial-alpha", access, Shaping(GREEDY, end_tokens=(0, 1, 2, 3)), {})
    assert len(drafter.propose([1], 5, SeededCoin(0)).tokens) == 5


def test_random_is_uniform() -> None:
    drafter = drafters.build("random", toy(8), Shaping(GREEDY), {})
    draft = drafter.propose([1], 3, SeededCoin(0))
    assert draft.laws is not None
    assert torch.equal(draft.laws, torch.full((3, 8), 1 / 8))
    counts = torch.zeros(8)
    coin = SeededCoin(1)
    for _ in range(1000):
        for token in drafter.propose([1], 3, coin).tokens:
            counts[token] += 1
    assert float((counts / 3000 - 1 / 8).abs().max()) < 0.03  # five standard deviations


def test_random_is_of_no_use() -> None:
    events = bench().events("random", {}, [1, 2, 3], gamma=4, new=40)
    assert finished(events).tokens == bench().golden([1, 2, 3])
    assert (metrics(events).alpha or 0.0) < 0.3
