"""The drafter over a session: its cache, its context, its confidence, its end."""

import gc
import weakref
from collections.abc import Sequence

import pytest
import torch
from enumerating import distance, emitted_law, random_table, target_law
from torch import Tensor
from toy_lanes import GREEDY, WARM, Bench, RecordingAccess, drafted, finished, metrics, noisy, toy

from specdemo import drafters
from specdemo.config import SamplingConfig
from specdemo.core.events import Drafted, Judged
from specdemo.core.sampling import Coin, SeededCoin, Shaping
from specdemo.core.verify import Fate, Verdict, verify
from specdemo.drafters.model import FULL, SessionDrafter
from specdemo.models.toy import ToyAccess, ToySession, fixed, hashed, script

V = 24
TARGET = hashed(V, 6, spread=1.5, memory=2)


def bench(access: ToyAccess) -> Bench:
    return Bench(access, table=None)  # type: ignore[arg-type]  # no n-gram drafter here


def test_always_wrong_grows_by_one_token_a_round() -> None:
    """B11, B02: rejected tokens leave no trace, also in blocks of one."""
    prompt = [i % V for i in range(128)]
    always = bench(ToyAccess(TARGET, lambda context: TARGET(context).roll(1), V))
    golden = always.golden(prompt, 12)
    for gamma in (1, 5):
        events = always.events("model", {}, prompt, gamma=gamma, new=12)
        rounds = [event for event in events if isinstance(event, Judged)]
        assert [event.emitted for event in rounds] == [(token,) for token in golden]
        assert metrics(events).accepted == 0


def test_nothing_is_read_twice() -> None:
    """C08: positions through the draft are bounded by prompt + rounds · (γ + 1)."""
    access = toy()
    prompt = [i % V for i in range(400)]
    numbers = metrics(bench(access).events("model", {}, prompt, gamma=4, new=20))
    assert access.sessions[0].fed <= len(prompt) + numbers.rounds * 5
    assert numbers.draft_steps <= numbers.rounds * 4


@pytest.mark.parametrize("accepted", [0, 1, 3, 4])
def test_cache_is_a_prefix_of_the_committed_tokens(accepted: int) -> None:
    access = toy()
    drafter = drafters.build("model", access, Shaping(GREEDY), {})
    session, tokens = access.sessions[0], [1, 2, 3]
    drafter.prefill(tokens[:-1])
    draft = drafter.propose(tokens, 4, SeededCoin(0))
    tokens += [*draft.tokens[:accepted], 9]
    drafter.observe(tokens, Verdict(accepted, 9, Fate.RESAMPLED, ()))
    assert len(session) == min(len(tokens) - 1, 3 + 3)
    assert session._tokens == tokens[: len(session)]
    drafter.propose(tokens, 4, SeededCoin(0))


def test_cache_follows_a_run_that_was_cut() -> None:
    """The run ended inside the accepted block: nothing behind the end stays."""
    access = toy()
    drafter = drafters.build("model", access, Shaping(GREEDY), {})
    draft = drafter.propose([1, 2, 3], 4, SeededCoin(0))
    drafter.observe([1, 2, 3, draft.tokens[0]], Verdict(4, 0, Fate.BONUS, ()))
    assert access.sessions[0]._tokens == [1, 2, 3]


@pytest.mark.parametrize("length", [30, 32, 33, 40])
def test_short_draft_context(length: int) -> None:
    """G04: the draft has 32 positions. It proposes what fits, then nothing, says so, and the text goes on."""
    access = RecordingAccess(TARGET, noisy(TARGET, V, 7), V, draft_limit=32)
    prompt = [i % V for i in range(length)]
    events = bench(access).events("model", {}, prompt, gamma=4, new=20)
    assert finished(events).tokens == bench(access).golden(prompt, 20)
    position = length
    for event in events:
        if isinstance(event, Judged):
            position += len(event.emitted)
        elif isinstance(event, Drafted) and event.gamma > 0:  # the last round may ask for nothing
            assert len(event.tokens) == min(event.gamma, max(0, 33 - position))
            assert (event.source == FULL) == (position > 32)


def test_argmax_hands_on_no_law() -> None:
    """B05: a first choice is no draw from q."""
    drafter = drafters.build("model", toy(), Shaping(WARM), {"mode": "argmax"})
    draft = drafter.propose([1, 2, 3], 4, SeededCoin(0))
    assert draft.laws is None
    assert drafters.build("model", toy(), Shaping(WARM), {}).propose([1, 2, 3], 4, SeededCoin(0)).laws is not None


def test_coarse_logits_make_one_law() -> None:
    """B06: logits closer than a bfloat16 step are equal for the draw and for the test alike."""
    logits = torch.tensor([8.0, 8.02, 7.99, 1.0, 8.01, 0.0, 7.98, 8.03]).bfloat16()
    access = ToyAccess(fixed(logits), fixed(logits), 8)
    draft = drafters.build("model", access, Shaping(WARM), {}).propose([1], 3, SeededCoin(1))
    assert draft.laws is not None
    assert draft.laws.dtype == torch.float32
    assert torch.equal(draft.laws, logits.float().softmax(-1).expand(3, -1))


def test_nothing_is_drafted_behind_an_end_token() -> None:
    access = ToyAccess(TARGET, script([5, 6, 7, 8], start=2, vocabulary=V), V)
    drafter = drafters.build("model", access, Shaping(GREEDY, end_tokens=(6, 9)), {})
    draft = drafter.propose([1, 2], 4, SeededCoin(0))
    assert draft.tokens == (5, 6)
    assert draft.steps == 2


def test_end_tokens_that_must_wait_are_not_drafted() -> None:
    access = ToyAccess(TARGET, script([5, 6, 7, 8], start=2, vocabulary=V), V)
    drafter = drafters.build("model", access, Shaping(GREEDY, end_tokens=(6,), first_end=20), {})
    assert 6 not in drafter.propose([1, 2], 4, SeededCoin(0)).tokens


class TestConfidence:
    def test_flat_draft_proposes_nothing(self) -> None:
        """M08: threshold 0.8 on a flat draft, γ = 8. The step that was taken is counted."""
        flat = bench(ToyAccess(TARGET, fixed(torch.zeros(V)), V))
        events = flat.events("model", {}, [1, 2], gamma=8, confidence=0.8)
        assert finished(events).tokens == flat.golden([1, 2])
        numbers = metrics(events)
        assert (numbers.drafted, numbers.alpha, numbers.hit_rate, numbers.tau) == (0, None, 0.0, 1.0)
        assert numbers.draft_steps == numbers.rounds - 1  # the last round asks for nothing

    @pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "warm"])
    def test_sure_only_sometimes(self, sampling: SamplingConfig) -> None:
        """M08: α is 100 % while hardly anything is drafted; the numbers beside it show that."""
        said = [i % V for i in range(40)]

        def sometimes(context: Sequence[int]) -> Tensor:
            return script(said, start=2, vocabulary=V, strength=60.0 if len(context) % 4 == 0 else 1.0)(context)

        one_of_four = bench(ToyAccess(script(said, start=2, vocabulary=V, strength=60.0), sometimes, V))
        events = one_of_four.events("model", {}, [1, 2], gamma=8, confidence=0.8, sampling=sampling)
        numbers = metrics(events)
        assert numbers.alpha == 1.0
        assert all(len(event.tokens) <= 1 for event in drafted(events))
        assert (numbers.drafted, numbers.rounds) == (10, 30)
        assert numbers.tau == pytest.approx(40 / 30)

    def test_law_is_kept(self) -> None:
        """The stop looks at the prefix only, never at the token drawn; else this law would be wrong."""
        target, draft = random_table(3, 1), random_table(3, 2)
        shaping, prompt = Shaping(WARM), (0, 1)
        lengths = set()

        def play(context: tuple[int, ...], coin: Coin) -> tuple[int, ...]:
            drafter = drafters.build("model", ToyAccess(target, draft, 3), shaping, {}, min_confidence=0.6)
            proposal = drafter.propose(context, 2, coin)
            lengths.add(len(proposal.tokens))
            p = ToySession(target).extend([*context, *proposal.tokens], keep=len(proposal.tokens) + 1).logits
            verdict = verify(proposal, shaping.laws(p, len(context)), coin)
            return (*proposal.tokens[: verdict.accepted], verdict.token)

        assert distance(emitted_law(play, prompt, 2), target_law(target, shaping, prompt, 2)) < 1e-6
        assert len(lengths) > 1


def test_layers_change_acceptance_and_not_the_text() -> None:
    """M10: every layer count gives the same text; the count reaches the model."""
    asked: list[int] = []

    class Layered(ToyAccess):
        def prefix(self, layers: int) -> ToySession:
            asked.append(layers)
            return ToySession(noisy(TARGET, V, 7, share=3.0 / layers))

    layered = bench(Layered(TARGET, TARGET, V))
    rates = set()
    for layers in (1, 2, 4, 8):
        events = layered.events("layer-skip", {"layers": layers}, [1, 2])
        assert finished(events).tokens == layered.golden([1, 2])
        rates.add(metrics(events).alpha)
    assert asked == [1, 2, 4, 8]
    assert len(rates) > 1


@pytest.mark.parametrize("scheme", ["nf4", "int8"])
def test_scheme_reaches_the_copy(scheme: str) -> None:
    asked: list[str] = []

    class Copied(ToyAccess):
        def quantised(self, scheme: str) -> ToySession:
            asked.append(scheme)
            return ToySession(TARGET)

    drafters.build("quantised", Copied(TARGET, TARGET, V), Shaping(GREEDY), {"scheme": scheme})
    assert asked == [scheme]


def test_closing_frees_the_session() -> None:
    session = ToySession(TARGET)
    gone = weakref.ref(session)
    drafter = SessionDrafter(session, Shaping(GREEDY), "held")
    del session
    drafter.close()
    gc.collect()
    assert gone() is None
