"""The prompt set keeps its promises; the user's own file is read as documented or refused with a sentence."""

import json
from pathlib import Path

import pytest

from specdemo import prompts
from specdemo.errors import PromptError
from specdemo.prompts import GROUPS, load_prompts, read_prompts


def file(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_set_has_four_prompts_of_every_group_with_titles_in_both_languages() -> None:
    own = load_prompts()
    assert [prompt.group for prompt in own] == [group for group in GROUPS for _ in range(4)]
    assert len({prompt.id for prompt in own}) == len({prompt.text for prompt in own}) == len(own)
    assert all(prompt.title("en") != prompt.id and prompt.title("zh") != prompt.id for prompt in own)
    assert all(prompt.text == prompt.text.strip() for prompt in own)


def test_set_has_short_and_long_prompts() -> None:
    lengths = [len(prompt.text) for prompt in load_prompts()]
    assert min(lengths) < 30
    assert max(lengths) > 300


def test_one_hero_one_foil() -> None:
    roles = [prompt.role for prompt in load_prompts() if prompt.role]
    assert sorted(roles) == ["foil", "hero"]
    assert "Curie" in prompts.hero().text
    assert "photosynthesis" in prompts.foil().text


def test_title_falls_back_to_the_id() -> None:
    assert load_prompts()[0].title("xx") == load_prompts()[0].id


def test_txt_has_one_prompt_a_line_and_no_escapes(tmp_path: Path) -> None:
    found = read_prompts(file(tmp_path, "p.txt", "\ufefffirst\r\n\n  second\\nline \nthird\u2028same line"))
    assert [prompt.text for prompt in found] == ["first", "second\\nline", "third\u2028same line"]
    assert [prompt.id for prompt in found] == ["1", "2", "3"]
    assert {prompt.group for prompt in found} == {"own"}


def test_csv_takes_the_column_prompt_and_its_group(tmp_path: Path) -> None:
    text = 'group,Prompt,note\ncode,"write ""a"", then\nb",x\n,plain\nchat\n'
    found = read_prompts(file(tmp_path, "p.csv", text))
    assert [(prompt.text, prompt.group) for prompt in found] == [('write "a", then\nb', "code"), ("plain", "own")]


def test_csv_may_call_the_column_text_as_json_may(tmp_path: Path) -> None:
    found = read_prompts(file(tmp_path, "p.csv", "text,group\none,code\n"))
    assert [(prompt.text, prompt.group) for prompt in found] == [("one", "code")]


def test_csv_without_that_column_takes_the_first_of_every_row(tmp_path: Path) -> None:
    found = read_prompts(file(tmp_path, "p.CSV", "one,1\r\ntwo,2\r\n"))
    assert [prompt.text for prompt in found] == ["one", "two"]


def test_json_takes_strings_and_objects(tmp_path: Path) -> None:
    records = ["one", {"prompt": "two", "group": "code"}, {"text": "three", "more": 3}, "  "]
    found = read_prompts(file(tmp_path, "p.json", json.dumps(records)))
    assert [(prompt.text, prompt.group) for prompt in found] == [("one", "own"), ("two", "code"), ("three", "own")]


def test_jsonl_takes_strings_and_objects(tmp_path: Path) -> None:
    lines = ['"one\\nmore"', "", '{"prompt": "two", "group": "code"}', '{"text": "three"}']
    found = read_prompts(file(tmp_path, "p.jsonl", "\r\n".join(lines)))
    assert [(prompt.text, prompt.group) for prompt in found] == [
        ("one\nmore", "own"),
        ("two", "code"),
        ("three", "own"),
    ]


REFUSED = {
    "type": ("p.pdf", "x", "prompts_type"),
    "encoding": ("p.txt", b"caf\xe9", "prompts_encoding"),
    "utf-16": ("p.txt", "hello".encode("utf-16"), "prompts_encoding"),
    "empty": ("p.txt", "\n \n", "prompts_empty"),
    "empty csv": ("p.csv", "", "prompts_empty"),
    "only a header": ("p.csv", "prompt\n", "prompts_empty"),
    "empty list": ("p.json", "[]", "prompts_empty"),
    "too many": ("p.txt", "a\n" * 10_001, "prompts_too_many"),
    "open quotation": ("p.csv", 'prompt\n"never closed\n', "prompts_csv"),
    "broken json": ("p.json", '["a",\n "b"\n "c"]', "prompts_json"),
    "no list": ("p.json", '{"prompt": "a"}', "prompts_shape"),
    "a number": ("p.json", '["a", 3]', "prompts_shape"),
    "no text": ("p.json", '[{"group": "code"}]', "prompts_shape"),
    "a list as group": ("p.json", '[{"prompt": "a", "group": []}]', "prompts_shape"),
    "too deep": ("p.json", "[" * 100_000, "prompts_shape"),
    "a huge number": ("p.json", "[" + "9" * 5000 + "]", "prompts_shape"),
    "a broken line": ("p.jsonl", '"a"\n{"prompt": "b"', "prompts_json"),
    "a number in a line": ("p.jsonl", '"a"\n\n3', "prompts_shape"),
    "a line too deep": ("p.jsonl", "[" * 100_000, "prompts_shape"),
    "empty lines": ("p.jsonl", "\n\n", "prompts_empty"),
}


@pytest.mark.parametrize(("name", "content", "key"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_a_sentence(tmp_path: Path, name: str, content: str | bytes, key: str) -> None:
    with pytest.raises(PromptError) as refused:
        read_prompts(file(tmp_path, name, content))
    assert refused.value.key == key
    assert name in refused.value.say()


def test_broken_json_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match="line 3"):
        read_prompts(file(tmp_path, "p.json", '["a",\n "b"\n "c"]'))


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(PromptError) as missing:
        read_prompts(tmp_path / "none.txt")
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(PromptError) as folder:
        read_prompts(tmp_path / "folder.txt")
    assert (missing.value.key, folder.value.key) == ("prompts_missing", "prompts_unreadable")
