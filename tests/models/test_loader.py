"""Pairs of tiny models in local folders: what is loaded, what is refused and in which words."""

import gc
import json
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_models import greedy, save, tiny
from tokenizers_for_tests import LINES, byte_fallback, byte_level
from transformers import GenerationConfig, PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from specdemo.config import RunConfig
from specdemo.errors import Cancelled, FetchError, PairError, SettingError
from specdemo.lanes import costs_of
from specdemo.models import checkpoint, hf_session, loader
from specdemo.models.loader import Pair, choose_device, choose_dtype, load_pair

IDS = 259
"""Ids of the default tiny tokenizer."""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save(tmp_path_factory.mktemp("models") / "target", tiny("llama"))


@pytest.fixture(scope="module")
def draft(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A weaker relative: the same weights, fewer layers; another width of padding."""
    return save(tmp_path_factory.mktemp("models") / "draft", tiny("llama", num_hidden_layers=2, vocab_size=280))


def refused(spec: str, **settings: Any) -> PairError:
    with pytest.raises(PairError) as error:
        load_pair(spec, **settings)
    assert len(error.value.say().splitlines()) == 1
    return error.value


def swapped(a: int, b: int) -> PreTrainedTokenizerFast:
    """The tiny tokenizer with the ids of two ordinary tokens exchanged."""
    content = json.loads(byte_level(LINES).backend_tokenizer.to_str())
    vocabulary = content["model"]["vocab"]
    names = {number: name for name, number in vocabulary.items()}
    vocabulary[names[a]], vocabulary[names[b]] = b, a
    backend = type(byte_level().backend_tokenizer).from_str(json.dumps(content))
    return PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<|im_end|>", bos_token="<|im_start|>")


def decode(pair: Pair, count: int) -> list[int]:
    """Greedy tokens of the pair's target through its session."""
    tokens = list(pair.text.encode("hello", raw=True))
    session, start = pair.target(), len(tokens)
    for _ in range(count):
        tokens.append(int(session.extend(tokens, keep=1).logits.argmax()))
    return tokens[start:]


def test_a_single_target_is_a_pair_without_a_draft(target: str) -> None:
    pair = load_pair(target)
    assert (pair.target_name, pair.draft_name, pair.name) == ("target", None, "target")
    assert (pair.dtype, pair.device, pair.limit) == ("float32", "cpu", 1024)
    assert pair.target_bytes == sum(p.numel() * 4 for p in tiny("llama").parameters())
    prompt = list(pair.text.encode("hello", raw=True))
    assert decode(pair, 40) == greedy(tiny("llama"), prompt, 40, IDS)
    assert refused_draft(pair).key == "no_draft"


def refused_draft(pair: Pair) -> PairError:
    with pytest.raises(PairError) as error:
        pair.draft()
    return error.value


def test_a_pair_answers_with_its_draft_and_its_own_layers(target: str, draft: str) -> None:
    pair = load_pair(f"{target},{draft}")
    assert (pair.target_name, pair.draft_name) == ("target", "draft")
    assert pair.draft_bytes < pair.target_bytes
    sessions = pair.target(), pair.draft(), pair.prefix(2)
    rows = [session.extend([5, 6, 7], keep=1).logits for session in sessions]
    assert {row.shape for row in rows} == {(1, IDS)}
    assert len({int(row.argmax()) for row in rows}) > 1


@pytest.mark.parametrize("rows", [(280, 300), (300, 280)])
def test_padded_tables_of_two_sizes_are_trimmed_to_what_is_shared(tmp_path: Path, rows: tuple[int, int]) -> None:
    folders = []
    for name, count in zip(("a", "b"), rows, strict=True):
        model = tiny("llama", vocab_size=count)
        with torch.no_grad():  # padding that wants to win
            model.get_output_embeddings().weight[IDS:] *= 100
        folders.append(save(tmp_path / name, model))
    pair = load_pair(",".join(folders))
    assert pair.vocabulary == IDS
    assert max(decode(pair, 40)) < IDS
    assert pair.draft().extend([1, 2, 3], keep=2).logits.shape == (2, IDS)


def test_two_swapped_entries_are_found_by_content(tmp_path: Path, target: str) -> None:
    other = save(tmp_path / "swapped", tiny("llama"), swapped(100, 101))
    same = save(tmp_path / "same", tiny("llama"), byte_level(LINES))
    error = refused(f"{same},{other}")
    assert error.key == "tokenizers_differ"
    assert error.params["id"] == 100


def test_two_different_tokenizers_are_refused_before_any_weight_is_read(
    tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = save(tmp_path / "other", tiny("llama"), byte_fallback())
    monkeypatch.setattr(checkpoint, "weights", lambda *_: pytest.fail("weights were read"))
    assert refused(f"{target},{other}").key.startswith("tokenizers_")
    assert refused(f"{other},{target}").key.startswith("tokenizers_")


def test_a_table_too_small_for_the_tokenizer_is_refused(tmp_path: Path, target: str) -> None:
    small = save(tmp_path / "small", tiny("llama", vocab_size=200))
    assert refused(small).params == {"name": "small", "rows": 200, "needed": IDS}
    assert refused(f"{target},{small}").params["name"] == "small"


@pytest.mark.parametrize(
    ("generation", "config", "expected"),
    [
        (7, 7, (2, 7)),
        ([7], 7, (2, 7)),
        ([9, 7], 9, (2, 7, 9)),
        (None, None, (2,)),
        (None, [9, 11], (2, 9, 11)),
        (5000, 7, (2, 7)),
    ],
)
def test_every_end_token_anybody_names_is_one(
    tmp_path: Path, generation: int | list[int] | None, config: int | list[int] | None, expected: tuple[int, ...]
) -> None:
    model = tiny("llama", eos_token_id=config)
    model.generation_config = GenerationConfig(eos_token_id=generation)
    folder = save(tmp_path / "ends", model)
    settings = Path(folder) / "generation_config.json"
    settings.write_text(json.dumps({"eos_token_id": generation}))
    assert load_pair(folder).end_tokens == expected


def test_a_recurrent_target_decodes_alone_but_refuses_every_drafter(tmp_path: Path, draft: str) -> None:
    mamba = save(tmp_path / "mamba", tiny("mamba"))
    pair = load_pair(mamba)
    assert len(decode(pair, 5)) == 5
    assert pair.rollback_refusal == "cache_cannot_forget"
    with pytest.raises(PairError, match="mamba cannot roll back"):
        pair.require_rollback()
    with pytest.raises(PairError, match="mamba cannot roll back"):
        pair.prefix(1)
    with pytest.raises(PairError, match="mamba cannot roll back"):
        costs_of(pair, RunConfig(prompt="the cat"))
    assert refused(f"{mamba},{draft}").params["name"] == "mamba"
    assert refused(f"{draft},{mamba}").params["name"] == "mamba"


def test_a_model_that_can_roll_back_says_nothing(target: str) -> None:
    pair = load_pair(target)
    assert pair.rollback_refusal is None
    pair.require_rollback()


def test_a_model_without_a_cache_argument_is_refused(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdemo.models.pair.can_roll_back", lambda model: "no_cache")
    assert refused(target).key == "no_cache"


def test_a_draft_with_a_shorter_context_is_allowed(tmp_path: Path, target: str) -> None:
    short = save(tmp_path / "short", tiny("llama", max_position_embeddings=32))
    pair = load_pair(f"{target},{short}")
    assert (pair.limit, pair.draft().limit) == (1024, 32)


def test_encoder_decoder_and_headless_models_are_refused(tmp_path: Path, target: str) -> None:
    t5 = T5ForConditionalGeneration(T5Config(vocab_size=IDS, d_model=16, d_kv=4, d_ff=16, num_layers=1, num_heads=2))
    assert refused(save(tmp_path / "t5", t5)).key == "encoder_decoder"
    assert refused(save(tmp_path / "bare", tiny("llama").model)).key == "no_language_head"
    assert (
        refused(changed(tmp_path / "masked", model_type="bert", architectures=["BertForMaskedLM"])).key
        == "no_language_head"
    )
    assert refused(changed(tmp_path / "vision", model_type="vit", architectures=[])).key == "no_language_head"
    assert refused(changed(tmp_path / "new", model_type="not-invented-yet")).key == "unknown_architecture"
    assert refused(changed(tmp_path / "awq", quantization_config={"quant_method": "awq"})).key == "already_quantised"


def changed(folder: Path, **changes: Any) -> str:
    save(folder, tiny("llama"))
    config = folder / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | changes))
    return str(folder)


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_an_incomplete_folder_is_refused_by_the_name_of_the_missing_file(tmp_path: Path, file: str) -> None:
    folder = save(tmp_path / "half", tiny("llama"))
    (tmp_path / "half" / file).unlink()
    torch.save(tiny("llama").state_dict(), tmp_path / "half" / "pytorch_model.bin")
    with pytest.raises(FetchError, match=f"half is incomplete: {file} is missing"):
        load_pair(folder)


def test_a_missing_shard_is_an_incomplete_folder(tmp_path: Path) -> None:
    tiny("llama").save_pretrained(tmp_path / "shards", max_shard_size="200KB")
    byte_level().save_pretrained(tmp_path / "shards")
    assert load_pair(str(tmp_path / "shards")).vocabulary == IDS
    gone = sorted((tmp_path / "shards").glob("model-*.safetensors"))[1]
    gone.unlink()
    with pytest.raises(FetchError, match=gone.name):
        load_pair(str(tmp_path / "shards"))


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
@pytest.mark.parametrize("kept", [0.0, 0.6])
def test_a_file_that_was_cut_off_is_named(tmp_path: Path, file: str, kept: float) -> None:
    folder = Path(save(tmp_path / "model", tiny("llama")))
    data = (folder / file).read_bytes()
    (folder / file).write_bytes(data[: int(kept * len(data))])
    with pytest.raises(FetchError, match=rf"{file} is damaged.*Delete it") as broken:
        load_pair(str(folder))
    assert broken.value.params["name"] == "model"


@pytest.mark.parametrize("content", ["[]", "3", "null"])
def test_settings_that_are_no_object_are_a_damaged_file(tmp_path: Path, content: str) -> None:
    folder = save(tmp_path / "odd", tiny("llama"))
    (Path(folder) / "config.json").write_text(content)
    with pytest.raises(FetchError) as refused:
        load_pair(folder)
    assert refused.value.key == "file_broken"


def test_missing_weights_are_refused_and_not_filled_with_noise(tmp_path: Path) -> None:
    model = tiny("llama")
    state = {name: value for name, value in model.state_dict().items() if "layers.1.mlp" not in name}
    model.save_pretrained(tmp_path / "holes", state_dict=state)
    byte_level().save_pretrained(tmp_path / "holes")
    error = refused(str(tmp_path / "holes"))
    assert error.key == "weights_missing"
    assert "layers.1.mlp" in str(error.params["weight"])


def test_a_model_larger_than_the_memory_is_refused(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "free_memory", lambda device: 100_000)
    assert "MB are free" in refused(target, dtype="float32").say()


def test_loading_leaves_every_random_generator_alone(target: str, draft: str) -> None:
    before = torch.random.get_rng_state()
    pair = load_pair(f"{target},{draft}")
    pair.prefix(1).extend([1, 2, 3], keep=1)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert not pair.model.training
    assert not any(p.requires_grad for p in pair.model.parameters())


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_each_dtype_decodes(target: str, dtype: str) -> None:
    pair = load_pair(target, dtype=dtype)
    rows = pair.target().extend([5, 6, 7], keep=2).logits
    assert (pair.dtype, rows.dtype) == (dtype, getattr(torch, dtype))
    assert bool(rows.isfinite().all())
    assert pair.rollback_refusal is None


def test_auto_is_half_precision_where_the_device_computes_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for instructions, packs, expected in (
        ({"avx512_bf16": True}, True, torch.bfloat16),
        ({"amx_bf16": True}, True, torch.bfloat16),
        ({"amx_bf16": True}, False, torch.float32),
        ({"avx512_bf16": False, "avx2": True}, True, torch.float32),
        ({}, True, torch.float32),
    ):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda found=instructions: found)
        monkeypatch.setattr(loader, "can_pack", lambda dtype, packs=packs: packs)
        assert choose_dtype("auto", "cpu") == expected
    assert choose_dtype("auto", "mps") == torch.float16
    for there, expected in ((True, torch.bfloat16), (False, torch.float16)):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda there=there: there)
        assert choose_dtype("auto", "cuda") == expected


def test_devices_that_are_not_there_are_refused(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device("auto") == "cpu"
    with pytest.raises(SettingError, match="no cuda device"):
        load_pair(target, device="cuda")
    for setting in ({"device": "tpu"}, {"dtype": "int4"}):
        with pytest.raises(SettingError, match="Choose one of"):
            load_pair(target, **setting)  # type: ignore[arg-type]


def test_a_cancel_ends_the_load_between_stages(target: str, draft: str) -> None:
    stages: list[tuple[str, int, int | None]] = []
    with pytest.raises(Cancelled):
        load_pair(f"{target},{draft}", progress=lambda *s: stages.append(s), cancelled=lambda: ("load", 1, 2) in stages)
    assert stages == [("load", 0, 2), ("load", 1, 2)]
    load_pair(f"{target},{draft}", progress=lambda *s: stages.append(s))
    assert stages[-1] == ("load", 2, 2)


def test_closing_lets_go_of_the_models(target: str, draft: str) -> None:
    pair = load_pair(f"{target},{draft}")
    models = [weakref.ref(pair.model), weakref.ref(pair._draft)]
    pair.close()
    gc.collect()
    assert [model() for model in models] == [None, None]


def test_the_clock_runs_and_memory_is_counted(target: str) -> None:
    pair = load_pair(target)
    assert pair.clock() < pair.clock()
    assert pair.peak_memory() > 10_000_000


@pytest.mark.real
def test_the_default_pair_is_the_embedded_model(real_pair: Pair) -> None:
    assert (real_pair.name, real_pair.vocabulary, real_pair.limit, real_pair.end_tokens) == (
        "smollm2-135m",
        49152,
        8192,
        (2,),
    )
    prompt = real_pair.text.encode("What is the capital of France?", raw=False)
    session, tokens = real_pair.target(), list(prompt)
    while tokens[-1] not in real_pair.end_tokens or len(tokens) == len(prompt):
        tokens.append(int(session.extend(tokens, keep=1).logits.argmax()))
    assert real_pair.text.decode(tokens[len(prompt) :]) == "The capital of France is Paris."
    assert hf_session.can_roll_back(real_pair.model) is None
