"""The file of a workshop: what was confirmed is there, whatever ends the program."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from class_of import POINT
from hypothesis import given, settings
from hypothesis import strategies as st

from specdemo.workshop.records import Place, Question, Shown
from specdemo.workshop.refusal import Refusal
from specdemo.workshop.room import Room
from specdemo.workshop.store import Store

ASKED = Question("own", {"en": "Faster?"}, ({"en": "yes"}, {"en": "no"}))

WRITER = """
import random, sys
from pathlib import Path
sys.path[:0] = [{tests!r}]
from class_of import POINT
from specdemo.workshop.records import Question
from specdemo.workshop.room import Room
from specdemo.workshop.store import Store
room = Room(Store(Path({file!r})))
if room.state.asked is None:
    room.ask(Question("own", {{"en": "Faster?"}}, ({{"en": "yes"}}, {{"en": "no"}})))
print("code", room.state.code, room.secret, flush=True)
rng = random.Random({seed})
for step in range(1, 10**6):
    kind = rng.choice(("vote", "point", "move"))
    if kind == "vote":
        attendee, choice = f"attendee-{{rng.randrange(50):04}}", rng.randrange(2)
        room.vote(room.state.asked.id, attendee, choice)
        print("vote", attendee, choice, flush=True)
    elif kind == "point":
        print("point", room.add_point(POINT)[1], flush=True)
    else:
        room.move({{"step": step, "by": "tab-one"}})
        print("move", step, flush=True)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "room" / "workshop.sqlite3"


def test_kill_9_loses_nothing_that_was_confirmed(file: Path) -> None:
    """Three times: a program writes as fast as it can, is killed in the midst, and the next goes on from there.

    One write may be on its way when the program dies: it is there or not, and nothing else differs.
    """
    votes: dict[str, int] = {}
    points, step, code = 0, 0, ""
    for seed in range(3):
        program = WRITER.format(tests=str(Path(__file__).parent), file=str(file), seed=seed)
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for count, line in enumerate(process.stdout):
            kind, *rest = line.split()
            if kind == "code":
                assert code in ("", " ".join(rest))
                code = " ".join(rest)
            elif kind == "vote":
                votes[rest[0]] = int(rest[1])
            elif kind == "point":
                points = int(rest[0])
            else:
                step = int(rest[0])
            if count == 150:
                os.kill(process.pid, signal.SIGKILL)
        process.wait()
        room = Room(Store(file))
        assert room.state.asked is not None
        found = {f"attendee-{i:04}": room.choice(f"attendee-{i:04}") for i in range(50)}
        differing = [attendee for attendee, choice in found.items() if votes.get(attendee) != choice]
        late = [room.state.last_point - points, len(differing), int(room.state.place.step != step)]
        assert sum(late) <= 1
        assert all(number >= 0 for number in late)
        counts = [sum(choice == option for choice in found.values()) for option in (0, 1)]
        assert list(room.state.tally) == counts
        assert [number for number, _ in room.points()] == list(range(1, room.state.last_point + 1))
        votes = {attendee: choice for attendee, choice in found.items() if choice is not None}
        points, step = room.state.last_point, room.state.place.step
        room.close()
    assert points > 20
    assert len(votes) > 20


def test_all_of_a_change_or_nothing(file: Path) -> None:
    store = Store(file)

    def fails_halfway() -> None:
        with store.change():
            store.add_point(POINT)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails_halfway()
    assert store.points() == ()
    with store.change():
        store.add_point(POINT)
    assert [point for _, point in store.points()] == [POINT]


def test_a_second_program_is_refused(file: Path) -> None:
    store = Store(file)
    with store.change():
        store.put_place(Place(step=3))
    program = f"from pathlib import Path; from specdemo.workshop.store import Store; Store(Path({str(file)!r}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "workshop_file_used" in done.stderr
    assert store.place.step == 3


def test_a_file_of_something_else_is_refused(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("not a workshop at all, but long enough to be taken for one " * 50)
    with pytest.raises(Refusal) as refused:
        Store(file)
    assert refused.value.key == "workshop_file_broken"


def test_a_folder_that_cannot_be_written_is_named(file: Path) -> None:
    file.parent.write_text("a file where the folder should be")
    with pytest.raises(Refusal) as refused:
        Store(file)
    assert refused.value.key == "workshop_file_unwritable"
    assert "--workshop-folder" in str(refused.value)


def test_only_its_owner_reads_the_file(file: Path) -> None:
    Store(file).close()
    assert file.stat().st_mode & 0o077 == 0


def test_a_full_disk_is_a_sentence_and_loses_nothing(file: Path) -> None:
    store = Store(file)
    with store.change():
        store.add_point(POINT)
    pages = store._base.execute("PRAGMA page_count").fetchone()[0]
    store._base.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(Refusal) as refused, store.change():
        store.put_trace(Shown("own-big", {}), b"x" * 1_000_000, 9)
    assert refused.value.key == "workshop_disk"
    store._base.execute("PRAGMA max_page_count = 100000")
    with store.change():
        store.add_point(POINT)
    assert store.point_count == 2


def test_the_latest_runs_are_kept(file: Path) -> None:
    store = Store(file)
    for number in range(5):
        with store.change():
            store.put_trace(Shown(f"own-{number}", {"en": str(number)}), b"x", most=3)
    assert [shown.id for shown in store.traces] == ["own-2", "own-3", "own-4"]
    assert store.trace("own-0") is None


@settings(max_examples=60, deadline=None)
@given(st.text(), st.text(min_size=1), st.dictionaries(st.text(), st.text(), max_size=2))
def test_no_text_is_taken_for_sql(
    tmp_path_factory: pytest.TempPathFactory, a: str, b: str, titles: dict[str, str]
) -> None:
    """Texts come back as they went in, whatever they hold; halves of surrogate pairs never get this far."""
    clean = [text.encode("utf-8", "replace").decode().replace("\0", "") for text in (a, b)]
    store = Store(tmp_path_factory.mktemp("sql") / "workshop.sqlite3")
    asked = store.ask(Question(clean[0], {"en": clean[1]}, ({"en": clean[0]}, {"en": clean[1]})))
    store.vote(asked.id, clean[0], 1)
    store.put_trace(Shown(clean[1], titles), json.dumps(titles).encode(), 9)
    assert store.asked(asked.id) == asked
    assert store.tally(asked) == (0, 1)
    assert store.choice(asked.id, clean[0]) == 1
    assert store.traces == (Shown(clean[1], titles, own=True),)
    store.close()
