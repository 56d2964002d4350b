"""A round asks the device for numbers once, whatever γ: no guess is looked at before the verdict.

Counted on a CPU, where the same path runs: recorded passes over fixed places, and what would be a transfer on a GPU.
"""

from dataclasses import replace

import pytest
import torch
from playing import make_run
from test_captured import Recorder
from test_llama import KINDS, LIMIT, PROMPT, made
from tiny_models import ROWS
from torch.nn import functional
from toy_drafts import SHAPE, random_weights

from specdemo.bench.transfers import Transfers
from specdemo.config import SamplingConfig
from specdemo.core import rules
from specdemo.core.events import Drafted, RoundFinished
from specdemo.core.protocols import Drafter, Tables
from specdemo.core.sampling import Shaping, draw_of
from specdemo.drafters.draft_file import FEATURE_HEAD, TINY_MODEL
from specdemo.drafters.draft_net import DraftNet
from specdemo.drafters.feature_head import FeatureHead, FeatureSession
from specdemo.drafters.model import SessionDrafter, over
from specdemo.drafters.prompt_lookup import PromptLookup
from specdemo.drafters.registry import Setup
from specdemo.drafters.tiny_model import TinySession
from specdemo.engine import NoDrafter, Run, speculative
from specdemo.models.captured import Captured, Recorded
from specdemo.models.llama import llama
from specdemo.models.llama_session import Eager, LlamaSession
from specdemo.models.norm import norm
from specdemo.models.toy import ToyAccess, fixed

GREEDY, WARM = Shaping(SamplingConfig()), Shaping(SamplingConfig(temperature=1.0))
"""No end tokens: a CPU looks at guesses only to see whether they are one, a GPU never does."""
TOKENS = 9
TARGET, DRAFT = made(KINDS["qwen3"]), made(KINDS["llama"])


def session(model: object, static: bool) -> LlamaSession:
    runner = Captured(llama(model), Recorder()) if static else Eager(llama(model))
    return LlamaSession(runner, ROWS, LIMIT, 1)


def transfers_of_rounds(drafter: Drafter, run: Run, static: bool = True) -> list[tuple[int, int]]:
    """(guesses, transfers) of every round."""
    found, seen = [], 0
    with Transfers() as counted:
        for event in speculative(session(TARGET, static), drafter, run):
            if isinstance(event, Drafted):
                guesses = len(event.tokens)
            if isinstance(event, RoundFinished):
                found.append((guesses, counted.count - seen))
                seen = counted.count
    return found


def run(shaping: Shaping, gamma: int, rule: str = "rejection") -> Run:
    return make_run(gamma, shaping, seed=3, tokens=TOKENS, prompt=tuple(PROMPT[:30]), rule=rules.entry(rule).judge)


shaped = pytest.mark.parametrize("shaping", [GREEDY, WARM], ids=["greedy", "sampled"])


@shaped
@pytest.mark.parametrize("static", [True, False], ids=["static", "eager"])
@pytest.mark.parametrize("gamma", [1, 4])
@pytest.mark.parametrize("rule", ["rejection", "greedy-match"])
def test_a_draft_model_costs_one_transfer_a_round(shaping: Shaping, gamma: int, rule: str, static: bool) -> None:
    warm = not shaping.sampling.greedy
    draw = Recorded(draw_of(shaping.sampling), Recorder(), torch.device("cpu")) if static and warm else None
    drafter = SessionDrafter(session(DRAFT, static), shaping, "draft model", draw=draw)
    found = transfers_of_rounds(drafter, run(shaping, gamma, rule), static)
    assert max(guesses for guesses, _ in found) == gamma
    assert {count for _, count in found} == {1}


@shaped
@pytest.mark.parametrize("gamma", [1, 4])
def test_block_verification_costs_another_one(shaping: Shaping, gamma: int) -> None:
    """For its draw, however many blocks there are."""
    drafter = SessionDrafter(session(DRAFT, True), shaping, "draft model")
    found = transfers_of_rounds(drafter, run(shaping, gamma, "block"))
    assert {count for guesses, count in found if guesses} == {2}


@shaped
@pytest.mark.parametrize("rule", ["rejection", "greedy-match"])
def test_so_does_a_draft_that_takes_its_first_choice(shaping: Shaping, rule: str) -> None:
    """A copy of the target, so that whole drafts are kept too."""
    drafter = SessionDrafter(session(TARGET, True), shaping, "draft model", argmax=True)
    assert {count for _, count in transfers_of_rounds(drafter, run(shaping, 4, rule))} == {1}


@shaped
@pytest.mark.parametrize("kind", [TINY_MODEL, FEATURE_HEAD])
def test_so_do_the_trained_drafts(shaping: Shaping, kind: str) -> None:
    rows = TARGET.get_input_embeddings().weight.detach()
    weights = random_weights(kind, ROWS, replace(SHAPE, width=rows.shape[1]))
    setup = Setup(ToyAccess(fixed(rows[0]), fixed(rows[0]), ROWS), shaping, {})
    net = DraftNet(weights, Tables(rows, rows, lambda weight: lambda x: functional.linear(x, weight), norm))
    if kind == TINY_MODEL:
        drafter: Drafter = over(TinySession(net), setup, "tiny model", net.support)
    else:
        drafter = FeatureHead(FeatureSession(net), setup)
    found = transfers_of_rounds(drafter, run(shaping, 4))
    assert max(guesses for guesses, _ in found) == 4
    assert {count for _, count in found} == {1}


@shaped
def test_so_does_a_lookup_and_so_does_plain_decoding(shaping: Shaping) -> None:
    lookup = PromptLookup(8, 1, 1, ROWS)
    for drafter, gamma in ((lookup, 4), (NoDrafter(), 0)):
        found = transfers_of_rounds(drafter, run(shaping, gamma))
        assert {count for _, count in found} == {1}
    assert len(found) == TOKENS
