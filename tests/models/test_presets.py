"""The table of pairs and how other pairs are written."""

from pathlib import Path

import pytest

from specdemo.config import RunConfig
from specdemo.errors import SettingError
from specdemo.models.presets import EMBEDDED, HUB_ID, PRESETS, key_of, name_of, resolve, suited


def test_every_preset_resolves_to_itself_and_to_sources_that_can_be_written() -> None:
    for name, preset in PRESETS.items():
        assert resolve(name) is preset
        for source in (preset.target, preset.draft):
            assert source in (None, EMBEDDED) or HUB_ID.fullmatch(str(source))


def test_the_default_of_a_run_is_the_embedded_preset_which_needs_no_hub() -> None:
    preset = resolve(RunConfig().pair)
    assert (preset.target, preset.draft, preset.gated) == (EMBEDDED, None, False)
    assert [other.id for other in PRESETS.values() if EMBEDDED in (other.target, other.draft)] == [preset.id]


def test_hub_ids_and_folders_make_a_pair_or_a_single_target(tmp_path: Path) -> None:
    (tmp_path / "my, draft").mkdir()
    (tmp_path / "draft").mkdir()
    assert (resolve(" owner/model ").target, resolve("owner/model").draft) == ("owner/model", None)
    pair = resolve(f"owner/model , {tmp_path / 'draft'}")
    assert (pair.target, pair.draft, pair.label) == ("owner/model", str(tmp_path / "draft"), "owner/model + draft")
    assert resolve(str(tmp_path / "my, draft")).draft is None


def test_a_preset_without_a_draft_may_stand_for_its_model() -> None:
    pair = resolve("smollm2-135m,owner/draft")
    assert (pair.target, pair.draft) == (EMBEDDED, "owner/draft")


@pytest.mark.parametrize("spec", ["", ",", "a,b,c", "no such folder/", "../secret", "a/b/c", "owner/model,", "x;y"])
def test_what_can_be_no_pair_is_refused_with_the_choices(spec: str) -> None:
    with pytest.raises(SettingError, match="smollm2-135m"):
        resolve(spec)


def test_names_on_screen_hold_no_paths(tmp_path: Path) -> None:
    folder = tmp_path / "my-model"
    folder.mkdir()
    assert name_of(str(folder)) == "my-model"
    assert str(tmp_path) not in resolve(f"{folder},{folder}").label
    assert name_of("owner/model") == "owner/model"
    assert key_of(EMBEDDED) == "smollm2-135m"


def test_a_pair_is_met_with_the_best_it_has() -> None:
    assert (suited("smollm2-135m").drafter, suited("smollm2-135m").gamma) == ("hybrid", 12)
    assert suited("qwen3-4b+0.6b").drafter == "model"
    assert suited("someone/else").drafter == RunConfig().drafter
