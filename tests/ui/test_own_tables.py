"""A draft trained on the page: whose it is, what it is made of, what it says, and that a run can have it."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from toy_pair import ToyPair

from specdemo.core.events import Drafted
from specdemo.core.result import collect
from specdemo.device import Device
from specdemo.drafters.ngram_table import NGramTable
from specdemo.errors import PairError, PromptError, SettingError, UserError
from specdemo.ui import training
from specdemo.ui.i18n import LANGUAGES, spoken
from specdemo.ui.models import Models
from specdemo.ui.replays import read
from specdemo.ui.runs import Runs
from specdemo.ui.settings import Limits, config_of
from specdemo.ui.tables import Tables
from specdemo.ui.training import MOST_CHARACTERS, PIECE, Training, checked, pieces

PAIR = "smollm2-135m"
TEXT = " ".join(["a", "bb", "ccc", "dddd"] * 30)
"""Words of 1, 2, 3 and 4 letters, which the toy knows as the ids 2, 3, 4 and 5, in turn."""


class House:
    """A device with a toy pair, runs, and what trains tables."""

    def __init__(self) -> None:
        self.device = Device()
        models = Models(self.device, lambda spec, progress: ToyPair())
        self.tables = Tables()
        self.runs = Runs(self.device, models, tables=self.tables)
        self.training = Training(self.device, models, self.runs, self.tables, Limits())

    def train(self, visitor: str, **changes: Any) -> list[dict[str, Any]]:
        return list(self.training.train({"text": TEXT, "order": 3, "pair": PAIR} | changes, visitor))

    def look(self, visitor: str, context: str) -> dict[str, Any]:
        (state,) = self.training.look({"context": context, "pair": PAIR}, visitor)
        return state


@pytest.fixture
def house() -> Iterator[House]:
    one = House()
    yield one
    one.device.shutdown()


def test_a_table_is_counted_on_the_targets_ids_with_progress(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "PIECE", 100)
    *running, done = house.train("me")
    assert [state["state"] for state in running] == ["running"] * len(running)
    assert len(running) >= 4
    assert running[-1]["done"] == running[-1]["of"] == len(TEXT)
    assert (done["state"], done["tokens"], done["order"]) == ("done", 120, 3)
    assert done["kinds"][:2] == [4, 4]
    assert done["middle"]
    assert done["middle"] in TEXT
    assert house.look("me", done["middle"])["levels"], "what follows it was seen"
    table = house.tables.of("me")
    assert table is not None
    assert table.unigrams.nonzero()[0].tolist() == [2, 3, 4, 5]


def test_its_entries_are_the_counts_and_its_law(house: House) -> None:
    house.train("me")
    seen = house.look("me", "x a bb")
    table = house.tables.of("me")
    assert table is not None
    assert [len(level["ending"]) for level in seen["levels"]] == [2, 1]
    longest = seen["levels"][0]
    assert (longest["total"], longest["kinds"]) == (30, 1)
    assert longest["rows"][0][1] == 30
    q = table.law((2, 3))
    assert seen["law"][0][1] == pytest.approx(float(q.max()))
    assert [label for label, _ in seen["ahead"]] == [ToyPair().text.label(id) for id in (4, 5, 2, 3)]
    assert house.look("me", "")["levels"] == []


def test_a_table_is_its_visitors_alone_and_goes_with_the_visit(house: House) -> None:
    house.train("me")
    with pytest.raises(PairError, match="No table"):
        house.look("you", "a")
    house.tables.drop("me")
    assert house.tables.of("me") is None
    assert house.tables.bytes == 0


def test_a_run_drafts_from_the_visitors_own_table(house: House) -> None:
    house.train("me")
    values = {"prompt": "a bb", "pair": PAIR, "drafter": "ngram", "knobs": {"source": "own"}, "max_new_tokens": 12}
    config = config_of(values, Limits())
    text = "".join(house.runs.live(config, "me"))
    events = read(text).events
    proposed = [event for event in events if isinstance(event, Drafted) and event.lane == "speculative"]
    assert proposed[0].tokens[:2] == (4, 5)
    lanes = collect(events).lanes
    assert lanes["speculative"].tokens == lanes["baseline"].tokens
    with pytest.raises(PairError, match="Train tab"):
        list(house.runs.live(config, "you"))


def test_a_table_of_another_target_is_refused(house: House) -> None:
    house.tables.put("me", NGramTable.train([[1, 2, 3] * 9], 2, 7, 1, {"target": "another"}))
    with pytest.raises(PairError, match="another target"):
        house.look("me", "a")
    config = config_of({"prompt": "a", "drafter": "ngram", "knobs": {"source": "own"}}, Limits())
    with pytest.raises(PairError, match="another target"):
        list(house.runs.live(config, "me"))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("", "train_blank"),
        (" \n", "train_blank"),
        (None, "train_blank"),
        (7, "train_blank"),
        ("a" * (MOST_CHARACTERS + 1), "train_long"),
        ("half a pair \ud83d", "train_not_text"),
        ("too short", "train_short"),
    ],
)
def test_a_text_that_cannot_be_used_is_one_sentence(house: House, text: object, key: str) -> None:
    with pytest.raises(PromptError) as caught:
        house.train("me", text=text)
    assert caught.value.key == key
    assert set(spoken(caught.value)) == set(LANGUAGES)
    assert house.tables.of("me") is None


@pytest.mark.parametrize(
    ("changes", "error"), [({"order": 1}, SettingError), ({"order": 99}, SettingError), ({"pair": "/etc"}, UserError)]
)
def test_what_a_visitor_may_not_ask_is_refused(house: House, changes: dict[str, Any], error: type[UserError]) -> None:
    with pytest.raises(error):
        house.train("me", **changes)


def test_stop_leaves_no_table(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "PIECE", 40)
    states = house.training.train({"text": TEXT * 50, "order": 3, "pair": PAIR}, "me")
    next(states)
    house.runs.stop("me")
    assert [*states][-1] == {"state": "stopped"}
    assert house.tables.of("me") is None
    deadline = time.monotonic() + 5
    while house.device.busy:
        assert time.monotonic() < deadline


def test_memory_is_bounded_and_the_one_unused_for_longest_makes_room() -> None:
    table = NGramTable.train([[1, 2, 3] * 9], 2, 1000, 1)
    tables = Tables(most_bytes=3 * table.nbytes)
    for visitor in "abc":
        tables.put(visitor, table)
    assert tables.of("a") is table
    tables.put("d", table)
    assert [tables.of(visitor) is not None for visitor in "abcd"] == [True, False, True, True]
    assert tables.bytes <= 3 * table.nbytes


@pytest.mark.parametrize("text", ["word " * 9000, "x" * (3 * PIECE + 7), "line\n" * 9000, "a"])
def test_pieces_are_the_text_and_end_between_words(text: str) -> None:
    found = list(pieces(text))
    assert "".join(found) == text
    assert all(0 < len(piece) <= PIECE for piece in found)
    assert checked(text) == text
