"""What is to be measured is checked before anything is loaded."""

import pytest

from specdemo.bench.plan import Choice, Plan, choose
from specdemo.errors import PromptError, SettingError
from specdemo.prompts import Prompt

PROMPTS = tuple(Prompt(f"{group}{i}", group, f"{i}") for group in ("copy", "code") for i in range(3))
PLAN = Plan(PROMPTS, (Choice("prompt-lookup"), Choice("oracle")), gammas=(1, 4), temperatures=(0.0, 1.0), repeat=2)


def test_every_lane_runs_beside_the_baseline_in_one_race() -> None:
    names = ["baseline", "prompt-lookup γ1", "prompt-lookup γ4", "oracle γ1", "oracle γ4"]
    assert [lane.name for lane in PLAN.lanes()] == names
    assert [lane.choice.control if lane.choice else None for lane in PLAN.lanes()] == [None, False, False, True, True]
    races = PLAN.races()
    assert len(races) == len({race.key for race in races}) == 6 * 2 * 2
    assert [race.prompt for race in races[:6]] == list(PROMPTS)
    configs = PLAN.configs(races[-1])
    assert list(configs) == names
    assert configs["oracle γ4"].gamma == 4
    assert {config.sampling.temperature for config in configs.values()} == {1.0}


def test_every_repeat_has_a_seed_of_its_own() -> None:
    seeds = [PLAN.configs(race)["baseline"].seed for race in PLAN.races()]
    assert seeds == [0] * 12 + [1] * 12


def test_knobs_are_read_checked_and_named() -> None:
    choice = Choice.parse("layer-skip:layers=12:mode=argmax")
    assert choice == Choice("layer-skip", (("layers", "12"), ("mode", "argmax")))
    assert choice.label == "layer-skip(layers=12, mode=argmax)"
    assert Choice.parse("ngram").label == "ngram"
    assert Choice.parse("hybrid:policy=goodput").label == "hybrid, goodput"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("none", "not_a_choice"),
        ("telepathy", "not_a_choice"),
        ("layer-skip:12", "knob_syntax"),
        ("layer-skip:depth=12", "unknown_knob"),
        ("layer-skip:layers=many", "not_a_number"),
        ("layer-skip:layers=0", "out_of_range"),
        ("hybrid:policy=bold", "not_a_choice"),
    ],
)
def test_what_does_not_exist_is_refused(text: str, key: str) -> None:
    with pytest.raises(SettingError) as refused:
        Choice.parse(text)
    assert refused.value.key == key


def test_empty_lists_and_bad_values_are_refused() -> None:
    with pytest.raises(SettingError, match="gammas"):
        Plan(PROMPTS, (Choice("oracle"),), gammas=())
    with pytest.raises(SettingError, match="temperature"):
        Plan(PROMPTS, (Choice("oracle"),), temperatures=(0.0, -1.0))
    with pytest.raises(SettingError, match="repeat"):
        Plan(PROMPTS, (Choice("oracle"),), repeat=0)


def test_prompts_are_chosen_by_group_and_number() -> None:
    assert choose(PROMPTS, (), None) == PROMPTS
    assert [prompt.id for prompt in choose(PROMPTS, (), 1)] == ["copy0", "code0"]
    assert [prompt.id for prompt in choose(PROMPTS, ("code",), 2)] == ["code0", "code1"]
    with pytest.raises(PromptError, match="copy, code"):
        choose(PROMPTS, ("poems",), None)


def test_settings_tell_plans_apart() -> None:
    other_text = (Prompt("copy0", "copy", "other"), *PROMPTS[1:])
    assert PLAN.settings() == Plan(**{name: getattr(PLAN, name) for name in Plan.__dataclass_fields__}).settings()
    assert Plan(other_text, PLAN.choices).settings() != Plan(PROMPTS, PLAN.choices).settings()
