"""What a Hugging Face Space needs of this project: its settings in the README, its requirements, and a start."""

import json
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version
from serving import Server, serving

from specdemo.models import checkpoint
from specdemo.models.presets import PRESETS
from specdemo.ui import zero_gpu

ROOT = Path(__file__).parents[2]
COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
SPACE = {"SPACE_ID": "someone/specdemo", "SYSTEM": "spaces", "SPACE_HOST": "someone-specdemo.hf.space"}


def required(file: str) -> dict[str, Requirement]:
    """Package → requirement."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return {one.name: one for one in map(Requirement, (line for line in lines if line and line[0].isalpha()))}


@pytest.fixture(scope="module")
def card() -> dict[str, Any]:
    """The front matter of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    _, front, _ = re.split(r"^---\n", text, maxsplit=2, flags=re.MULTILINE)
    assert text.startswith("---\n")
    return yaml.safe_load(front)


def test_the_card_is_complete_and_says_what_spaces_take(card):
    assert {card["colorFrom"], card["colorTo"]} <= COLOURS
    assert len(card["short_description"]) <= 60
    assert card["license"] == "apache-2.0"
    assert re.fullmatch(r"\d+[mh]", card["startup_duration_timeout"])
    assert {"title", "emoji", "pinned", "tags", "suggested_hardware"} <= card.keys()
    assert (ROOT / card["app_file"]).is_file()


def test_gradio_is_the_installed_one_in_full(card):
    assert card["sdk"] == "gradio"
    assert card["sdk_version"] == version("gradio")  # a short version is a configuration error
    assert required("requirements.txt")["gradio"].specifier.contains(card["sdk_version"])


def test_python_is_one_that_zerogpu_has_and_the_project_takes(card):
    assert card["python_version"] == "3.12"  # in quotes: as a number 3.10 would be 3.1
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert Version(card["python_version"]) >= Version(re.search(r'requires-python = ">=([\d.]+)"', text)[1])


def test_torch_for_spaces_is_one_that_zerogpu_takes_and_the_requirements_allow():
    (pinned,) = required("pre-requirements.txt")["torch"].specifier
    assert pinned.version in zero_gpu.TORCH
    assert required("requirements.txt")["torch"].specifier.contains(pinned.version)


def test_weights_that_the_space_gets_beforehand_make_whole_presets(card, tmp_path):
    loaded = {}
    for line in card["preload_from_hub"]:
        repository, files = line.split(" ")
        loaded[repository] = files.split(",")
        for name in loaded[repository]:
            (tmp_path / name).touch()
        assert checkpoint.lacking(tmp_path) is None
    assert set(loaded) == set(card["models"])
    presets = [{preset.target, preset.draft} - {None} for preset in PRESETS.values()]
    assert sum(sources <= set(loaded) for sources in presets) >= 2


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`app.py` as a Space starts it, where nothing can be fetched."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path_factory.mktemp("hub")), "SPECDEMO_LOG": "off"}
    with serving() as serve:
        yield serve("app.py", "--pair", "smollm2-135m-hub", "--port", **SPACE, **offline)


def test_the_page_is_there_with_its_recorded_runs_before_and_without_a_model(space):
    health = httpx.get(f"{space.url}/healthz").json()
    assert health["status"] == "ok"
    page = httpx.get(space.url)
    assert page.status_code == 200
    parts = httpx.get(f"{space.url}/config").json()["components"]
    values = [str(part["props"].get("value")) for part in parts]
    (stage,) = [value.splitlines() for value in values if value.startswith('{"run"')]
    assert json.loads(stage[0])["source"] == "recorded"
    assert len(stage) > 100  # all of the run, not a promise of it
    assert "frame-ancestors 'self' https://huggingface.co" in page.headers["content-security-policy"]
