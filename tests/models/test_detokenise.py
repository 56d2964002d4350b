"""Streaming text: no half characters, no lost spaces, nothing taken back, nothing held for long."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers_for_tests import LINES, byte_fallback, byte_level, metaspace, with_added, word_piece

from specdemo.models.text import Text

BYTES = byte_level()
MERGED = byte_level(LINES)
FALLBACK = byte_fallback()
FAMILY = "👨\u200d👩\u200d👧\u200d👦"
HARD = (
    "hi 🤗 ok",
    "日本語",
    "é",
    "e\u0301",
    FAMILY,
    "Привет, мир",
    "x != y , z .",
    "a\ufffdb",
    "\x00\n\t\r\n  ",
    " lead",
)
WORDS = ("the cat sat", "the  cat", " the cat.", "cat 🤗 the", "日本 é", "the cat , the cat !")


def ids_of(tokenizer, text):
    return tokenizer(text, add_special_tokens=False).input_ids


def stream(text, ids):
    """Pieces and flush, as the engine makes them."""
    detokeniser = text.detokeniser()
    return [detokeniser.feed(token) for token in ids], detokeniser.flush()


@pytest.mark.parametrize("string", HARD)
@pytest.mark.parametrize("tokenizer", [BYTES, MERGED], ids=["bytes", "merged"])
def test_pieces_are_whole_characters_and_join_to_the_text(tokenizer, string):
    text = Text.from_tokenizer(tokenizer)
    ids = ids_of(tokenizer, string)
    pieces, tail = stream(text, ids)
    assert "".join(pieces) == string == text.decode(ids) == tokenizer.decode(ids)
    assert tail == ""
    if "\ufffd" not in string:
        assert not any("\ufffd" in piece for piece in pieces)


@given(string=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufdd0\ufdd1")))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_any_text_survives_byte_level_streaming(string):
    for tokenizer in (BYTES, MERGED):
        text = Text.from_tokenizer(tokenizer)
        pieces, tail = stream(text, text.encode(string, raw=True))
        assert ("".join(pieces), tail) == (string, "")


@given(ids=st.lists(st.integers(3, 258), max_size=40))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_any_bytes_at_all_agree_with_the_library_and_wait_for_at_most_three_tokens(ids):
    text = Text.from_tokenizer(BYTES)
    pieces, tail = stream(text, ids)
    assert "".join(pieces) + tail == text.decode(ids) == BYTES.decode(ids)
    for end in range(len(ids) + 1):  # what is seen is final, and all but three bytes' worth of it is seen
        seen = "".join(pieces[:end])
        assert BYTES.decode(ids).startswith(seen)
        assert len(seen) >= len(BYTES.decode(ids[: max(0, end - 3)]).rstrip("\ufffd"))


def test_a_character_cut_off_by_the_end_is_flushed_once():
    text = Text.from_tokenizer(BYTES)
    pieces, tail = stream(text, ids_of(BYTES, "a🤗")[:-1])
    assert pieces == ["a", "", "", ""]
    assert tail == "\ufffd"


def test_bytes_that_never_make_a_character_are_not_held_back():
    text = Text.from_tokenizer(BYTES)
    start = ids_of(BYTES, "🤗")[0]
    pieces, _ = stream(text, [start] * 50)
    assert len("".join(pieces)) == 49


def test_text_without_a_space_is_shown_at_once():
    text = Text.from_tokenizer(BYTES)
    pieces, _ = stream(text, ids_of(BYTES, "abcdefghijklmnop" * 12))
    assert all(len(piece) == 1 for piece in pieces)


@pytest.mark.parametrize("string", WORDS)
def test_byte_fallback_streams_what_the_library_decodes(string):
    text = Text.from_tokenizer(FALLBACK)
    ids = ids_of(FALLBACK, string)
    pieces, tail = stream(text, ids)
    assert "".join(pieces) == string == text.decode(ids) == FALLBACK.decode(ids)
    assert tail == ""
    assert not any("\ufffd" in piece for piece in pieces)


@pytest.mark.parametrize(
    ("tokenizer", "low"), [(FALLBACK, 259), (metaspace(), 0), (word_piece(), 0)], ids=["fallback", "metaspace", "words"]
)
def test_any_list_of_whole_pieces_streams_what_the_library_decodes(tokenizer, low):
    text = Text.from_tokenizer(tokenizer)
    dice = random.Random(0)
    for _ in range(100):
        ids = dice.choices(range(low, len(tokenizer)), k=12)
        assert text.decode(ids) == tokenizer.decode(ids, skip_special_tokens=True)


def test_byte_fallback_does_not_let_a_bad_byte_spoil_the_good_ones_before_it():
    text = Text.from_tokenizer(FALLBACK)
    ids = FALLBACK.convert_tokens_to_ids(["<0xC3>", "<0xA9>", "<0xF0>", "▁cat"])
    assert stream(text, ids) == (["", "é", "", "\ufffd cat"], "")


def test_metaspace_keeps_the_spaces_between_words():
    tokenizer = metaspace()
    text = Text.from_tokenizer(tokenizer)
    ids = ids_of(tokenizer, "the cat sat")
    assert stream(text, ids) == (["the", " cat", " sat"], "")
    assert tokenizer.decode(ids) == "the cat sat"
    assert [text.label(token) for token in ids] == [(" the", "text"), (" cat", "text"), (" sat", "text")]


def test_word_piece_streams_words():
    tokenizer = word_piece()
    text = Text.from_tokenizer(tokenizer)
    ids = ids_of(tokenizer, "the cats sat.")
    assert stream(text, ids) == (["the", " cat", "s", " sat", " ."], "")


def test_special_tokens_add_no_text_wherever_they_stand():
    text = Text.from_tokenizer(FALLBACK)
    end, cat, the = FALLBACK.convert_tokens_to_ids(["</s>", "▁cat", "▁the"])
    assert stream(text, [end, the, end, cat, end]) == (["", "the", "", " cat", ""], "")


def test_an_end_token_adds_no_text_even_if_the_tokenizer_thinks_it_ordinary():
    ordinary = ids_of(BYTES, "#")[0]
    ids = ids_of(BYTES, "a#")
    assert Text.from_tokenizer(BYTES).decode(ids) == "a#"
    text = Text.from_tokenizer(BYTES, end_tokens=(ordinary,))
    assert text.decode(ids) == "a"
    assert text.label(ordinary)[1] == "special"


def test_spelled_out_control_strings_and_ordinary_added_tokens_are_shown():
    tokenizer = with_added(byte_level(), "<thé>", special=False)
    text = Text.from_tokenizer(tokenizer)
    spelled = text.encode("<|im_end|>", raw=True)
    assert len(spelled) > 1
    assert text.decode([*spelled, tokenizer.convert_tokens_to_ids("<thé>")]) == "<|im_end|><thé>"


def test_ids_without_a_token_add_no_text():
    text = Text.from_tokenizer(BYTES)
    assert text.decode([10**6, *ids_of(BYTES, "a")]) == "a"


def test_time_grows_with_the_number_of_tokens_only():
    text = Text.from_tokenizer(MERGED)
    ids = ids_of(MERGED, LINES[2] * 2000)
    start = time.perf_counter()
    text.decode(ids)
    assert len(ids) > 20_000
    assert time.perf_counter() - start < 2.0  # 0.05 s here; decoding everything at every token takes minutes
