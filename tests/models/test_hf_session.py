"""Sessions over tiny random models of every layout: what a cache remembers, forgets and costs."""

from typing import Any

import pytest
import torch
from tiny_models import ATTENTION, ROWS, greedy, tiny
from torch import Tensor

from specdemo.errors import SettingError
from specdemo.models import hf_session
from specdemo.models import session as sessions
from specdemo.models.hf_session import NO_TABLE, HFSession, can_roll_back, first_layers

PROMPT = [(7 * i + 3) % 250 for i in range(12)]


def logits_of(model: Any, tokens: list[int]) -> Tensor:
    """Logits `[n, ROWS]` of a fresh pass without a cache."""
    with torch.inference_mode():
        logits: Tensor = model(torch.tensor([tokens]), use_cache=False).logits[0]
    return logits


def difference(a: Tensor, b: Tensor) -> float:
    return float((a - b).abs().max())


class Positions:
    """Counts what goes through a model: positions fed, and rows that the head computes."""

    def __init__(self, model: Any) -> None:
        self.fed: list[int] = []
        self.rows: list[int] = []
        model.get_input_embeddings().register_forward_pre_hook(lambda _, x: self.fed.append(x[0].shape[1]))
        model.get_output_embeddings().register_forward_pre_hook(lambda _, x: self.rows.append(x[0].shape[1]))


@pytest.mark.parametrize("kind", ATTENTION)
def test_after_a_rollback_the_cache_is_that_of_a_fresh_pass(kind: str) -> None:
    model = tiny(kind)
    session = HFSession(model, ROWS)
    session.extend(PROMPT, keep=0)
    session.extend([*PROMPT, 1, 2, 3, 4, 5], keep=5)
    session.rollback(14)
    assert len(session) == 14
    assert {layer.get_seq_length() for layer in session._cache.layers} == {14}
    tokens = [*PROMPT, 1, 2, 9]
    assert difference(session.extend(tokens, keep=1).logits[0], logits_of(model, tokens)[-1]) < 1e-4


@pytest.mark.parametrize("kind", ATTENTION)
def test_cache_on_or_off_gives_the_same_sixty_tokens_twice(kind: str) -> None:
    model = tiny(kind)
    golden = greedy(model, PROMPT, 60)
    for _ in range(2):
        session, tokens = HFSession(model, ROWS), list(PROMPT)
        while len(tokens) < len(PROMPT) + 60:
            # A wrong guess is fed and forgotten in every step, as a rejected draft is.
            rows = session.extend([*tokens, 11, 12], keep=3).logits
            tokens.append(int(rows[0].argmax()))
            session.rollback(len(tokens) - 1)
        assert tokens[len(PROMPT) :] == golden


@pytest.mark.parametrize("kind", ATTENTION)
def test_every_row_is_right_and_hidden_is_what_the_head_read(kind: str) -> None:
    model = tiny(kind)
    session = HFSession(model, ROWS)
    session.extend(PROMPT[:5], keep=0)
    passed = session.extend(PROMPT, keep=7)
    assert passed.hidden is not None
    assert passed.logits.shape == (7, ROWS)
    assert passed.hidden.shape == (7, 64)
    assert difference(passed.logits, logits_of(model, PROMPT)[-7:]) < 1e-4
    with torch.inference_mode():
        assert difference(model.get_output_embeddings()(passed.hidden), passed.logits) < 1e-5


@pytest.mark.parametrize("length", [0, 1, 2, 3])
def test_rolls_back_to_any_length_and_starts_again(length: int) -> None:
    model = tiny("llama")
    session = HFSession(model, ROWS)
    session.extend(PROMPT[:3], keep=1)
    session.rollback(length)
    assert len(session) == length
    other = [*PROMPT[:length], 50, 51, 52, 53]
    assert difference(session.extend(other, keep=1).logits[0], logits_of(model, other)[-1]) < 1e-4


def test_a_rollback_beyond_either_end_is_refused() -> None:
    session = HFSession(tiny("llama"), ROWS)
    session.extend(PROMPT[:3], keep=0)
    for length in (-1, 4):
        with pytest.raises(ValueError, match="cannot roll back"):
            session.rollback(length)
    assert len(session) == 3


def test_nothing_new_to_feed_is_no_pass() -> None:
    model = tiny("llama")
    seen = Positions(model)
    session = HFSession(model, ROWS)
    assert session.extend(PROMPT[:0], keep=0).logits.shape == (0, ROWS)
    session.extend(PROMPT, keep=0)
    session.extend(PROMPT, keep=0)
    assert seen.fed == [12]


def test_what_the_cache_holds_must_be_a_prefix() -> None:
    session = HFSession(tiny("llama"), ROWS)
    session.extend(PROMPT[:5], keep=0)
    for tokens, keep in (([*PROMPT[:4], 99, 1], 1), (PROMPT[:5], 1), (PROMPT[:4], 0)):
        with pytest.raises(ValueError, match="no prefix"):
            session.extend(tokens, keep)


@pytest.mark.parametrize("keep", [0, 1, 3])
def test_the_head_computes_only_the_rows_asked_for(keep: int) -> None:
    model = tiny("llama")
    seen = Positions(model)
    HFSession(model, ROWS).extend(PROMPT, keep)
    assert seen.rows == [keep]


def test_a_long_prompt_goes_in_chunks_and_rows_may_span_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "CHUNK", 5)
    model = tiny("llama")
    golden = logits_of(model, PROMPT)
    seen = Positions(model)
    session = HFSession(model, ROWS)
    passed = session.extend(PROMPT, keep=4)
    assert seen.fed == [5, 5, 2]
    assert seen.rows == [0, 2, 2]
    assert passed.hidden is not None
    assert passed.hidden.shape == (12, 64)
    assert difference(passed.logits, golden[-4:]) < 1e-4


def test_each_position_of_a_long_prompt_is_fed_once() -> None:
    prompt, gamma, rounds = [(5 * i) % 250 for i in range(400)], 4, 5
    model = tiny("llama")
    seen = Positions(model)
    session, tokens = HFSession(model, ROWS), list(prompt)
    session.extend(tokens[:-1], keep=0)
    for _ in range(rounds):
        session.extend([*tokens, 1, 2, 3, 4], keep=gamma + 1)
        tokens.append(7)
        session.rollback(len(tokens) - 1)
    assert sum(seen.fed) <= len(prompt) + rounds * (gamma + 1)


def test_padding_columns_are_cut_off_even_if_they_are_largest() -> None:
    model = tiny("llama")
    with torch.no_grad():
        model.get_output_embeddings().weight[259:] *= 100
    rows = HFSession(model, 259).extend(PROMPT, keep=12).logits
    assert int(logits_of(model, PROMPT).argmax(-1).max()) >= 259, "the test must have such a row"
    assert rows.shape == (12, 259)
    assert difference(rows, logits_of(model, PROMPT)[:, :259]) < 1e-4


def test_a_window_smaller_than_the_sequence_still_rolls_back() -> None:
    model = tiny("mistral")
    assert model.config.sliding_window < len(PROMPT)
    full = tiny("mistral", sliding_window=None)
    assert difference(logits_of(model, PROMPT), logits_of(full, PROMPT)) > 1e-2, "the window must matter"
    assert can_roll_back(model) is None


def test_the_limit_is_the_position_table_and_nothing_is_fed_past_it() -> None:
    session = HFSession(tiny("gpt2", n_positions=16), ROWS)
    assert session.limit == 16
    session.extend(PROMPT, keep=0)
    with pytest.raises(IndexError, match="do not fit 16"):
        session.extend([*PROMPT, 1, 2, 3, 4, 5], keep=1)
    assert len(session) == 12
    assert HFSession(tiny("bloom"), ROWS).limit == NO_TABLE


@pytest.mark.parametrize("kind", ATTENTION)
def test_attention_models_can_roll_back(kind: str) -> None:
    assert can_roll_back(tiny(kind)) is None


def test_a_recurrent_model_cannot_roll_back_but_decodes_plainly() -> None:
    model = tiny("mamba")
    assert can_roll_back(model) == "cache_cannot_forget"
    session, tokens = HFSession(model, ROWS), list(PROMPT)
    for _ in range(20):
        tokens.append(int(session.extend(tokens, keep=1).logits.argmax()))
        session.rollback(len(tokens) - 1)
    assert tokens[len(PROMPT) :] == greedy(model, PROMPT, 20)


def test_a_cache_that_claims_to_forget_but_does_not_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny("llama")
    monkeypatch.setattr(hf_session.DynamicCache, "crop", lambda self, removed: None)
    assert can_roll_back(model) == "cache_forgets_wrongly"


@pytest.mark.parametrize("kind", ATTENTION)
def test_the_first_layers_are_a_model_that_shares_every_weight(kind: str) -> None:
    model = tiny(kind)
    before = logits_of(model, PROMPT)
    cut = first_layers(model, 2)
    own = {weight.data_ptr() for weight in model.parameters()}
    assert {weight.data_ptr() for weight in cut.parameters()} < own
    session = HFSession(cut, ROWS)
    early = session.extend(PROMPT, keep=12).logits
    assert len(session._cache.layers) == 2
    assert difference(early, before) > 1e-2
    with torch.inference_mode():
        states = model(torch.tensor([PROMPT]), output_hidden_states=True, use_cache=False).hidden_states[2]
        assert difference(early, model.get_output_embeddings()(final_norm(model)(states))[0]) < 1e-4
    assert torch.equal(logits_of(model, PROMPT), before)


def final_norm(model: Any) -> Any:
    base = model.base_model
    return next(getattr(base, name) for name in ("norm", "ln_f", "final_layer_norm") if hasattr(base, name))


@pytest.mark.parametrize("count", [0, -1, 3, 4])
def test_as_many_layers_as_the_model_or_none_are_refused(count: int) -> None:
    with pytest.raises(SettingError) as refused:
        first_layers(tiny("llama"), count)
    assert refused.value.params == {"name": "layers", "value": count, "low": 1, "high": 2}


def test_sessions_of_one_model_do_not_share_a_cache() -> None:
    model = tiny("llama")
    first, second = HFSession(model, ROWS), HFSession(model, ROWS)
    first.extend(PROMPT, keep=0)
    assert len(second) == 0
    assert difference(second.extend([4, 5, 6], keep=1).logits[0], logits_of(model, [4, 5, 6])[-1]) < 1e-4
