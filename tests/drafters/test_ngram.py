"""The n-gram table: counts, law, file; and the drafter over it."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from toy_lanes import GREEDY, WARM, Knobs, toy

from specdemo import drafters
from specdemo.config import SamplingConfig
from specdemo.core.protocols import Drafter
from specdemo.core.sampling import SeededCoin, Shaping
from specdemo.drafters.ngram import NGramSession
from specdemo.drafters.ngram_table import NGramTable
from specdemo.errors import PairError, SettingError
from specdemo.models.toy import ToyAccess

TEXTS = [[0, 1, 2, 0, 1, 3], [0, 1, 2]]


def table(order: int = 3, min_count: int = 1) -> NGramTable:
    return NGramTable.train(TEXTS, order, 5, min_count)


def test_law_by_hand() -> None:
    """Witten–Bell over the counts 0:3 1:3 2:2 3:1 of nine ids, with 01 → 2 2 3 and 1 → 2 2 3."""
    shortest = (torch.tensor([3.0, 3.0, 2.0, 1.0, 0.0]) + 4 / 5) / 13
    seen = torch.tensor([0.0, 0.0, 2.0, 1.0, 0.0])
    after_1 = (seen + 2 * shortest) / 5
    after_01 = (seen + 2 * after_1) / 5
    assert torch.allclose(table().law([]), shortest)
    assert torch.allclose(table().law([1]), after_1)
    assert torch.allclose(table().law([4, 0, 1]), after_01)


def test_unknown_contexts_have_the_law_of_shorter_ones() -> None:
    assert torch.equal(table().law([3, 1]), table().law([1]))
    assert torch.equal(table().law([4]), table().law([]))


def test_laws_are_laws() -> None:
    random = np.random.default_rng(0)
    trained = NGramTable.train([random.integers(0, 20, 500).tolist() for _ in range(4)], 4, 20)
    for _ in range(50):
        q = trained.law(random.integers(0, 20, 5).tolist())
        assert q.dtype == torch.float32
        assert float(q.min()) > 0.0
        assert float(q.sum()) == pytest.approx(1.0, abs=1e-6)


def test_no_ngram_crosses_two_texts() -> None:
    """3 ends one text and 0 begins the next."""
    assert torch.equal(table().law([3]), table().law([]))


def test_counts_are_those_of_a_dictionary() -> None:
    random = np.random.default_rng(1)
    texts = [random.integers(0, 6, 60).tolist() for _ in range(5)]
    counted: dict[tuple[int, ...], int] = {}
    for text in texts:
        for n in (2, 3, 4):
            for i in range(len(text) - n + 1):
                gram = tuple(text[i : i + n])
                counted[gram] = counted.get(gram, 0) + 1
    trained = NGramTable.train(texts, 4, 6, min_count=2)
    assert sum(len(level.tokens) for level in trained.levels) == sum(count >= 2 for count in counted.values())
    for (*context, token), count in counted.items():
        tokens, counts = trained._successors(context)
        assert counts[tokens == token].tolist() == ([count] if count >= 2 else [])


def test_rare_ngrams_are_left_out() -> None:
    assert table(min_count=2).nbytes < table(min_count=1).nbytes
    assert torch.equal(table(min_count=9).law([0, 1]), table().law([]))


def test_empty_and_short_texts() -> None:
    assert torch.allclose(NGramTable.train([], 3, 4).law([1]), torch.full((4,), 0.25))
    assert NGramTable.train([[], [1], [2, 3]], 4, 5, min_count=1).order == 4


def test_large_vocabulary_and_counts() -> None:
    trained = NGramTable.train([[99_999, 5] * 70_000], 2, 100_000)
    assert int(trained.law([99_999]).argmax()) == 5
    assert int(trained.levels[0].counts.max()) == 65_535


def test_file_round_trip(tmp_path: Path) -> None:
    header = {"tokenizer": "abc", "source": "own text", "licence": "Apache-2.0"}
    path = tmp_path / "drafts" / "table.safetensors"
    NGramTable.train(TEXTS, 3, 5, 1, header).save(path)
    read = NGramTable.load(path, 5)
    assert read.header == header
    assert (read.order, read.vocabulary) == (3, 5)
    assert torch.equal(read.law([0, 1]), table().law([0, 1]))


def test_wrong_vocabulary_is_refused(tmp_path: Path) -> None:
    table().save(tmp_path / "t.safetensors")
    with pytest.raises(PairError, match="5 token ids, but this target has 6"):
        NGramTable.load(tmp_path / "t.safetensors", 6)


def test_broken_files_are_refused(tmp_path: Path) -> None:
    path, header = tmp_path / "t.safetensors", {"format": "specdemo-ngram-1"}
    table().save(path)
    whole, arrays = path.read_bytes(), load_file(path)
    broken = {
        "cut": whole[:-7],
        "noise": b"PK\x03\x04" * 9,
        "empty": b"",
    }
    for content in broken.values():
        path.write_bytes(content)
        with pytest.raises(PairError, match="train-ngram"):
            NGramTable.load(path, 5)
    for name, array in {
        "2.start": arrays["2.start"][:-1],
        "3.start": arrays["3.start"] + np.uint32(1),
        "2.tokens": arrays["2.tokens"] + np.uint16(4),
        "3.counts": arrays["3.counts"][1:],
        "unigrams": arrays["unigrams"].astype(np.float32),
    }.items():
        save_file(arrays | {name: array}, path, metadata=header)
        with pytest.raises(PairError, match="train-ngram"):
            NGramTable.load(path, 5)
    save_file({name: array for name, array in arrays.items() if name != "3.counts"}, path, metadata=header)
    with pytest.raises(PairError, match="missing"):
        NGramTable.load(path, 5)
    save_file(arrays, path)
    with pytest.raises(PairError, match="specdemo-ngram-1"):
        NGramTable.load(path, 5)


def drafter(path: Path, sampling: SamplingConfig = GREEDY, **knobs: str | int) -> Drafter:
    table().save(path)
    chosen: Knobs = {"table": str(path), **knobs}
    return drafters.build("ngram", toy(5), Shaping(sampling), chosen)


def test_drafts_are_drawn_from_the_law_handed_on(tmp_path: Path) -> None:
    draft = drafter(tmp_path / "t", WARM).propose([4, 0], 2, SeededCoin(0))
    assert draft.laws is not None
    assert torch.allclose(draft.laws[0], table().law([4, 0]), atol=1e-6)
    assert torch.allclose(draft.laws[1], table().law([0, draft.tokens[0]]), atol=1e-6)
    assert (draft.steps, draft.source) == (2, "3-gram")


def test_greedy_takes_the_first_choice(tmp_path: Path) -> None:
    assert drafter(tmp_path / "t").propose([4, 0], 2, SeededCoin(0)).tokens == (1, 2)
    assert drafter(tmp_path / "t", WARM, mode="argmax").propose([4, 0], 2, SeededCoin(0)).laws is None


def test_order_shortens_the_context(tmp_path: Path) -> None:
    texts = [[1, 0, 2], [1, 0, 2], [3, 0, 4], [3, 0, 4], [3, 0, 4]]
    trained = NGramTable.train(texts, 3, 5, 1)
    rows = [NGramSession(trained, order).extend([1, 0], keep=1).logits[0] for order in (1, 2, 3)]
    assert [int(row.argmax()) for row in rows] == [0, 4, 2]


def test_session_gives_every_row_it_is_asked_for() -> None:
    session = NGramSession(table(), 3)
    assert session.extend([0, 1, 2], keep=0).logits.shape == (0, 5)
    session.rollback(1)
    assert torch.allclose(session.extend([0, 1, 2], keep=2).logits[0].exp(), table().law([0, 1]))
    with pytest.raises(ValueError, match="new"):
        session.extend([0, 1, 2], keep=1)
    with pytest.raises(ValueError, match="roll back"):
        session.rollback(9)


def test_order_above_the_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"order must be between 0 and 3"):
        drafter(tmp_path / "t", order=4)


def test_missing_table_says_how_to_make_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECDEMO_CACHE", str(tmp_path))
    for knobs in ({}, {"table": str(tmp_path / "none")}):
        with pytest.raises(PairError, match="train-ngram"):
            drafters.build("ngram", toy(5), Shaping(GREEDY), knobs)


def test_own_table_is_found_by_the_targets_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECDEMO_CACHE", str(tmp_path))
    table().save(tmp_path / "drafts" / "ngram-toy.safetensors")
    assert drafters.build("ngram", toy(5), Shaping(GREEDY), {}).propose([4, 0], 1, SeededCoin(0)).tokens == (1,)


def test_a_table_draws_on_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its logits are there: a draw recorded on a GPU would be an upload and a wait a step."""
    monkeypatch.setattr(ToyAccess, "recorded", lambda self, draw: pytest.fail("asked for a recorded draw"))
    draft = drafter(tmp_path / "t", WARM).propose([4, 0], 1, SeededCoin(0))
    assert draft.laws is not None
