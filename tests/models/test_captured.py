"""Recorded passes, with a recording that any device can make: the same text, and inputs that are really replaced."""

import pytest
import torch
from test_llama import KINDS, LIMIT, PROMPT, close, lean, made
from tiny_models import ROWS

from specdemo.config import SamplingConfig
from specdemo.core.ids import Ids
from specdemo.core.sampling import SeededCoin, Shaping, draw_of, inverse_cdf, law, numbers_of
from specdemo.core.verify import Fate, Verdict
from specdemo.drafters.model import SessionDrafter
from specdemo.models.captured import Captured, Recorded, Run
from specdemo.models.llama import llama
from specdemo.models.llama_session import Eager, LlamaSession


class Recorder:
    """Counts recordings; each replay fills the same tensors, as a graph does."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self, run: Run) -> Run:
        self.made += 1
        outputs = run()

        def replay() -> tuple[torch.Tensor, torch.Tensor]:
            for kept, new in zip(outputs, run(), strict=True):
                kept.copy_(new)
            return outputs

        return replay


def test_replayed_passes_say_what_eager_ones_say_also_after_a_rollback() -> None:
    model, recorder = made(KINDS["qwen3"]), Recorder()
    captured = LlamaSession(Captured(llama(model), recorder), ROWS, LIMIT, 1)
    eager = lean(model, 1)
    seen = []
    for end, keep, back in (
        (60, 0, 60),
        (61, 1, 61),
        (66, 5, 63),
        (68, 5, 68),
        (69, 1, 69),
        (150, 3, 100),
        (101, 1, 101),
    ):
        a, b = captured.extend(PROMPT[:end], keep), eager.extend(PROMPT[:end], keep)
        seen.append((a, b))
        for session in (captured, eager):
            session.rollback(back)
    for a, b in seen:  # all of them at the end: a later pass must not have written into an earlier answer
        assert a.hidden is not None
        assert b.hidden is not None
        assert close(a.hidden, b.hidden)
        assert a.logits.numel() == 0 or close(a.logits, b.logits)
    assert recorder.made == 2, "one for each width of a round and number of rows, whatever the position"


def test_a_cache_that_has_moved_is_recorded_anew() -> None:
    model, recorder = made(KINDS["llama"]), Recorder()
    session, eager = LlamaSession(Captured(llama(model), recorder), ROWS, LIMIT, 1), lean(model, 1)
    long = PROMPT * 8
    for end in (500, 501, 502, 1100, 1101, 1102):
        a, b = session.extend(long[:end], 1), eager.extend(long[:end], 1)
        assert close(a.logits, b.logits)
    assert recorder.made == 2


def test_a_pass_that_cannot_be_recorded_runs_as_it_is_and_says_why() -> None:
    def refuse(run: Run) -> Run:
        raise RuntimeError("operation not permitted when stream is capturing\nmore")

    model = made(KINDS["llama"])
    runner = Captured(llama(model), refuse)
    session, eager = LlamaSession(runner, ROWS, LIMIT, 1), lean(model, 1)
    for end in (20, 21, 25):
        assert close(session.extend(PROMPT[:end], 1).logits, eager.extend(PROMPT[:end], 1).logits)
    assert runner.refusal == "operation not permitted when stream is capturing"


@pytest.mark.parametrize("static", [True, False], ids=["static", "eager"])
def test_ids_that_nobody_looked_at_are_fed_like_others(static: bool) -> None:
    """Guesses behind known ids, one more each time; then some turn out right and the text goes on from there."""
    model = made(KINDS["llama"])
    runner = Captured(llama(model), Recorder()) if static else Eager(llama(model))
    session, plain = LlamaSession(runner, ROWS, LIMIT, 1), lean(model, 1)
    session.extend(PROMPT[:39], 0)
    plain.extend(PROMPT[:39], 0)
    for count in (0, 1, 2, 3):
        guesses = torch.tensor(PROMPT[40 : 40 + count], dtype=torch.long)
        a = session.extend(Ids(PROMPT[:40], guesses), 1)
        assert close(a.logits, plain.extend(PROMPT[: 40 + count], 1).logits)
        assert len(session) == 40 + count
    session.rollback(42)
    plain.rollback(42)
    text = [*PROMPT[:42], 7, 8, 9]
    assert close(session.extend(text, 3).logits, plain.extend(text, 3).logits)
    with pytest.raises(ValueError, match="no prefix"):
        session.extend([0, *text[1:], 1], 1)


SAMPLINGS = [
    SamplingConfig(1.0),
    SamplingConfig(0.7, top_k=5),
    SamplingConfig(1.3, top_p=0.8),
    SamplingConfig(0.9, top_k=40, top_p=0.95),
]


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_a_recorded_draw_drafts_what_a_plain_one_drafts(sampling: SamplingConfig) -> None:
    """Also where end tokens wait, and while the coin goes on from round to round."""
    recorder, shaping = Recorder(), Shaping(sampling, end_tokens=(2, 5, 7), first_end=44)
    draw = Recorded(draw_of(sampling), recorder, torch.device("cpu"))
    drafters = [
        SessionDrafter(lean(made(KINDS["llama"]), 1), shaping, "draft model", draw=step) for step in (draw, None)
    ]
    coins, tokens = [SeededCoin(3), SeededCoin(3)], PROMPT[:40]
    for drafter in drafters:
        drafter.prefill(tokens[:-1])
    for token in range(6):
        a, b = (drafter.propose(tokens, 5, coin) for drafter, coin in zip(drafters, coins, strict=True))
        assert tuple(a.tokens) == tuple(b.tokens)
        assert a.laws is not None
        assert b.laws is not None
        assert torch.equal(a.laws, b.laws)
        tokens = [*tokens, token]
        for drafter in drafters:
            drafter.observe(tokens, Verdict(0, token, Fate.RESAMPLED, ()))
    assert recorder.made == 1
    ahead = [coin.uniform() for coin in coins]
    assert ahead[0] == ahead[1], "as many numbers were used"


def test_one_recording_is_for_all_temperatures() -> None:
    recorder, logits = Recorder(), torch.randn(1, 50, generator=torch.Generator().manual_seed(0))
    draw = Recorded(draw_of(SamplingConfig(0.7, top_p=0.9)), recorder, torch.device("cpu"))
    for sampling in (SamplingConfig(0.7, top_p=0.9), SamplingConfig(1.4, top_p=0.6), SamplingConfig(0.3, top_p=0.9)):
        for u in (0.1, 0.5, 0.99):
            q, x = draw(logits, numbers_of(sampling, u))
            assert torch.equal(q, law(logits, sampling))
            assert int(x) == inverse_cdf(q[0], u)
    assert recorder.made == 1


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_nothing_in_a_draft_waits_for_the_gpu(sampling: SamplingConfig) -> None:
    from specdemo.models.captured import graph

    model, shaping = made(KINDS["llama"]).to("cuda"), Shaping(sampling, end_tokens=(2,))
    session = LlamaSession(Captured(llama(model), graph), ROWS, LIMIT, 1)
    draw = Recorded(draw_of(sampling), graph, torch.device("cuda"))
    drafter = SessionDrafter(session, shaping, "draft model", draw=draw, end_tokens=(2,))
    tokens = PROMPT[:40]
    drafter.prefill(tokens[:-1])
    for _ in range(2):  # the first time records
        drafter.propose(tokens, 5, SeededCoin(0))
        drafter.observe(tokens, Verdict(0, 0, Fate.RESAMPLED, ()))
    torch.cuda.set_sync_debug_mode("error")
    try:
        draft = drafter.propose(tokens, 5, SeededCoin(0))
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert draw.refusal is None
    assert len(draft.tokens) == 5


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_graphs_on_a_gpu_say_what_eager_passes_say() -> None:
    from specdemo.models.captured import graph

    model = made(KINDS["llama"]).to("cuda")
    session, eager = LlamaSession(Captured(llama(model), graph), ROWS, LIMIT, 1), lean(model, 1)
    for end, keep in ((60, 0), (61, 1), (62, 1), (67, 5), (72, 5), (73, 1)):
        a, b = session.extend(PROMPT[:end], keep), eager.extend(PROMPT[:end], keep)
        assert keep == 0 or close(a.logits, b.logits)
