"""Every address of a workshop, from outside: who may do what, and what is said to the others."""

import asyncio
import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from class_of import LEAD, SECRET, Canned, app
from coroutines import complete
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.routing import Mount

from specdemo.workshop import hub
from specdemo.workshop.hub import Hub
from specdemo.workshop.link import qr_code
from specdemo.workshop.pace import Pace
from specdemo.workshop.refusal import Refusal
from specdemo.workshop.routes import ATTENDEE_TOKENS

ROOT = Path(__file__).parents[2]
ME = {"x-attendee": "a-random-name-0"}
QUESTION = {"kind": "faster", "text": {"en": "Faster?", "zh": "更快吗？"}, "options": [{"en": "yes"}, {"en": "no"}]}


class Class:
    """One workshop and a client that knows its code."""

    def __init__(self, file: Path) -> None:
        self.hub, self.backend = Hub(file, SECRET), Canned()
        self.http = httpx.AsyncClient(
            transport=httpx.ASGITransport(app(self.hub, self.backend)), base_url="http://room.test"
        )

    async def get(self, path: str, **options: Any) -> httpx.Response:
        return await self.http.get(f"/w/{self.hub.state.code}{path}", **options)

    async def post(self, path: str, value: Any = None, **options: Any) -> httpx.Response:
        return await self.http.post(f"/w/{self.hub.state.code}{path}", json=value, **options)

    async def lead(self, path: str, value: Any = None) -> httpx.Response:
        return await self.post(path, value or {}, headers=LEAD)


def meet(file: Path, what: Callable[[Class], Awaitable[None]]) -> None:
    async def whole() -> None:
        room = Class(file)
        try:
            await what(room)
        finally:
            room.hub.close()

    complete(whole())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "workshop.sqlite3"


PRESENTERS = ["/place", "/ask", "/reveal", "/dismiss", "/anew", "/traces"]


@pytest.mark.parametrize("secret", [None, "", "wrong", SECRET[:-1], SECRET + "x", "ü"])
def test_only_the_presenter_leads(file: Path, secret: str | None) -> None:
    async def what(room: Class) -> None:
        before = room.hub.state
        headers = {} if secret is None else {"authorization": f"Bearer {secret}".encode()}
        for path in PRESENTERS:
            answer = await room.post(path, {"step": 3, "forget": room.hub.state.code}, headers=headers)
            assert answer.status_code == 403
            assert "presenter" in answer.json()["texts"]["en"]
        assert room.hub.state is before

    meet(file, what)


def test_another_code_is_no_workshop(file: Path) -> None:
    async def what(room: Class) -> None:
        for path in ("state", "events", "board", "board.csv", "traces/hero", "qr.svg"):
            answer = await room.http.get(f"/w/zzzz/{path}", headers=LEAD)
            assert (answer.status_code, answer.json()["error"]) == (404, "workshop_code")
        page = await room.http.get("/w/zzzz")
        assert (page.status_code, "None" in page.text) == (404, True)
        assert (await room.http.get("/w/", follow_redirects=True)).status_code == 200
        assert (await room.get("")).text == f"<!doctype html><title>{room.hub.state.code}</title>"

    meet(file, what)


def test_a_full_class_is_told_so_and_a_presenter_always_has_a_place(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def what(room: Class) -> None:
        monkeypatch.setattr(hub, "MOST_LISTENERS", 0)
        answer = await room.get("/events")
        assert (answer.status_code, answer.json()["error"]) == (503, "workshop_full")
        room.hub.require_place(True)

    meet(file, what)


def test_the_presenter_moves_and_all_see_it(file: Path) -> None:
    async def what(room: Class) -> None:
        moved = {"trace": "hero", "step": 7, "view": "run", "speed": 0.5, "by": "tab-one"}
        answer = await room.lead("/place", moved)
        assert answer.status_code == 200
        seen = (await room.get("/state")).json()
        assert {key: seen[key] for key in moved} == moved
        assert "tally" not in seen
        assert "own" not in seen

    meet(file, what)


@pytest.mark.parametrize(
    "wrong",
    [
        {"step": -1}, {"step": 1.5}, {"step": True}, {"step": "3"}, {"step": 10**9}, {"speed": 9}, {"speed": "x"},
        {"view": "nowhere"}, {"trace": "../../etc/passwd"}, {"trace": "a b"}, {"live": 1}, {"by": ""}, {"other": 1},
        {"scene": 3}, {"revealed": -1}, [], 3, "text",
    ],
)  # fmt: skip
def test_nonsense_moves_nobody(file: Path, wrong: Any) -> None:
    async def what(room: Class) -> None:
        before = room.hub.state
        answer = await room.post("/place", wrong, headers=LEAD)
        assert answer.status_code == 400
        assert answer.json()["texts"]["en"]
        assert room.hub.state is before

    meet(file, what)


def test_two_tabs_of_the_presenter_do_not_fight(file: Path) -> None:
    """A click leads; a run that only goes on playing in a tab that no longer leads moves nobody."""

    async def what(room: Class) -> None:
        await room.lead("/place", {"step": 3, "speed": 1, "by": "tab-one"})
        assert (await room.lead("/place", {"step": 5, "by": "tab-one", "playing_on": True})).status_code == 200
        await room.lead("/place", {"step": 40, "speed": 0, "by": "tab-two"})
        late = await room.lead("/place", {"step": 6, "speed": 1, "by": "tab-one", "playing_on": True})
        assert (late.status_code, late.json()["error"]) == (409, "workshop_other_tab")
        assert (room.hub.state.place.step, room.hub.state.place.by) == (40, "tab-two")
        await room.lead("/place", {"step": 8, "by": "tab-one"})
        assert room.hub.state.place.step == 8

    meet(file, what)


def test_one_vote_each_changeable_until_the_answer_is_shown(file: Path) -> None:
    async def what(room: Class) -> None:
        question = (await room.lead("/ask", QUESTION)).json()["question"]
        assert (question["open"], question["votes"]) == (True, 0)
        assert (await room.get(f"/questions/{question['id']}")).json() == QUESTION
        assert (await room.get("/questions/99")).status_code == 409

        async def vote(attendee: int, choice: int) -> httpx.Response:
            value = {"question": question["id"], "choice": choice}
            return await room.post("/vote", value, headers={"x-attendee": f"a-random-name-{attendee}"})

        await asyncio.gather(*(vote(attendee, attendee % 2) for attendee in range(9)))
        await vote(0, 1)
        await vote(0, 1)
        seen = (await room.get("/state", headers=ME)).json()
        assert seen["question"]["votes"] == 9
        assert seen["question"]["tally"] is None  # nobody follows the crowd
        assert seen["choice"] == 1
        assert (await room.get("/state", headers=LEAD)).json()["tally"] == [4, 5]
        await room.lead("/reveal", {"question": question["id"], "answer": 0})
        late = await vote(3, 0)
        assert (late.status_code, late.json()["error"]) == (409, "workshop_vote_closed")
        told = (await room.get("/state")).json()["question"]
        assert (told["tally"], told["answer"], told["open"]) == ([4, 5], 0, False)
        await room.lead("/dismiss")
        assert (await room.get("/state")).json()["question"] is None

    meet(file, what)


@pytest.mark.parametrize(
    "wrong",
    [
        {"question": 1, "choice": 2}, {"question": 1, "choice": -1}, {"question": 1, "choice": "0"}, {"question": 1},
        {"question": "1 OR 1=1", "choice": 0}, {"question": None, "choice": 0}, {"question": 1.0, "choice": 0}, {},
    ],
)  # fmt: skip
def test_what_is_no_vote_is_not_counted(file: Path, wrong: Any) -> None:
    async def what(room: Class) -> None:
        await room.lead("/ask", QUESTION)
        assert (await room.post("/vote", wrong, headers=ME)).status_code in (400, 409)
        assert room.hub.state.tally == (0, 0)

    meet(file, what)


@pytest.mark.parametrize("name", [None, "", "short", "a" * 65, "a-name; DROP TABLE vote", "ü" * 20])
def test_an_attendee_has_a_random_name_and_no_other(file: Path, name: str | None) -> None:
    async def what(room: Class) -> None:
        await room.lead("/ask", QUESTION)
        headers = {} if name is None else {"x-attendee": name.encode()}
        answer = await room.post("/vote", {"question": 1, "choice": 0}, headers=headers)
        assert answer.status_code == 400

    meet(file, what)


def test_requests_that_are_too_large_or_too_many_are_refused(file: Path) -> None:
    async def what(room: Class) -> None:
        await room.lead("/ask", QUESTION)
        large = await room.post("/vote", {"question": 1, "choice": 0, "more": "x" * 20_000}, headers=ME)
        assert (large.status_code, large.json()["error"]) == (413, "workshop_body_large")
        statuses = [(await room.post("/vote", {"question": 1, "choice": 0}, headers=ME)).status_code for _ in range(40)]
        assert set(statuses) == {200, 429}
        other = await room.post("/vote", {"question": 1, "choice": 0}, headers={"x-attendee": "another-name-1"})
        assert other.status_code == 200
        trace = await room.http.post(f"/w/{room.hub.state.code}/traces", content=b"x" * 5_000_001, headers=LEAD)
        assert trace.status_code == 413

    meet(file, what)


def test_pages_of_other_addresses_cannot_vote(file: Path) -> None:
    """A form or a text that another page may send unasked is no vote: only JSON is, for which browsers ask first."""

    async def what(room: Class) -> None:
        await room.lead("/ask", QUESTION)
        for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
            answer = await room.http.post(
                f"/w/{room.hub.state.code}/vote",
                content=b'{"question":1,"choice":0}',
                headers={**ME, "content-type": kind},
            )
            assert answer.status_code == 415
        assert room.hub.state.tally == (0, 0)

    meet(file, what)


def test_a_run_sent_to_the_class_reaches_everybody(file: Path) -> None:
    async def what(room: Class) -> None:
        text = '{"specdemo":1}\n' * 3000
        sent = await room.http.post(
            f"/w/{room.hub.state.code}/traces?title=My%20run", content=text.encode(), headers=LEAD
        )
        id = sent.json()["id"]
        got = await room.get(f"/traces/{id}", headers={"accept-encoding": "gzip"})
        assert got.text == text
        assert got.headers["content-encoding"] == "gzip"
        assert (await room.get(f"/traces/{id}", headers={"accept-encoding": "identity"})).text == text
        assert (await room.get("/traces/hero")).text.startswith('{"specdemo":1}')
        own = (await room.get("/state", headers=LEAD)).json()["own"]
        assert own == [{"id": id, "titles": {"en": "My run"}, "own": True}]
        for unknown in ("own-none", "..%2F..%2Fapp", "a%00b"):
            assert (await room.get(f"/traces/{unknown}")).status_code in (400, 404)
        wrong = await room.http.post(f"/w/{room.hub.state.code}/traces", content=b"nonsense", headers=LEAD)
        assert (wrong.status_code, wrong.json()["error"]) == (400, "trace_empty")

    meet(file, what)


def test_attendees_run_when_the_presenter_lets_them(file: Path) -> None:
    async def what(room: Class) -> None:
        asked = {"prompt": "the cat", "max_new_tokens": 500, "board": True}
        shut = await room.post("/run", asked, headers=ME)
        assert (shut.status_code, shut.json()["error"]) == (403, "workshop_live_off")
        await room.lead("/place", {"live": True, "by": "tab-one"})
        lines = [json.loads(line) for line in (await room.post("/run", asked, headers=ME)).text.splitlines()]
        assert [line["token"] for line in lines[:-1]] == list(range(ATTENDEE_TOKENS))
        assert lines[-1] == {"point": 1}
        short = await room.post("/run", asked | {"max_new_tokens": 5}, headers=ME)
        assert short.text.splitlines()[-1] == '{"point": null}'
        unseen = await room.post("/run", asked | {"board": False}, headers=ME)
        assert len(unseen.text.splitlines()) == ATTENDEE_TOKENS
        failed = await room.post("/run", asked | {"prompt": "bug"}, headers=ME)
        assert json.loads(failed.text) == {"problem": {"en": "a bug"}}
        assert room.hub.state.last_point == 1
        presenters = await room.post("/run", asked, headers=LEAD)
        assert len(presenters.text.splitlines()) > 100
        assert '"visitor": "presenter"' in presenters.text

    meet(file, what)


def test_one_run_at_a_time_for_each(file: Path) -> None:
    async def what(room: Class) -> None:
        room.backend.pause_s = 0.01
        await room.lead("/place", {"live": True, "by": "tab-one"})
        both = await asyncio.gather(*(room.post("/run", {"prompt": "x"}, headers=ME) for _ in range(2)))
        assert sorted(answer.status_code for answer in both) == [200, 409]
        assert (await room.post("/run", {"prompt": "x"}, headers=ME)).status_code == 200

    meet(file, what)


def test_the_board_is_a_table_for_others(file: Path) -> None:
    async def what(room: Class) -> None:
        await room.lead("/place", {"live": True, "by": "tab-one"})
        for attendee in range(3):
            await room.post("/run", {"prompt": "x", "board": True}, headers={"x-attendee": f"a-random-name-{attendee}"})
        points = (await room.get("/board")).json()
        assert [point["id"] for point in points] == [1, 2, 3]
        assert [point["id"] for point in (await room.get("/board?after=2")).json()] == [3]
        rows = list(csv.DictReader(io.StringIO((await room.get("/board.csv")).text)))
        assert [(row["run"], row["drafter"], row["gamma"], row["alpha"], row["speedup"]) for row in rows] == [
            (str(number), "prompt-lookup", "4", "0.75", "1.5") for number in (1, 2, 3)
        ]
        assert not any("random-name" in str(row) for row in rows)
        for wrong in ("x", "-1", "1;DROP TABLE point", "9" * 30, "³"):
            assert (await room.get("/board", params={"after": wrong})).status_code == 400

    meet(file, what)


def test_a_restart_goes_on_and_a_new_workshop_begins_empty(file: Path) -> None:
    codes = []

    async def first(room: Class) -> None:
        await room.lead("/place", {"trace": "hero", "step": 12, "live": True, "by": "tab-one"})
        await room.lead("/ask", QUESTION)
        await room.post("/vote", {"question": 1, "choice": 1}, headers=ME)
        await room.post("/run", {"prompt": "x", "board": True}, headers=ME)
        codes.append((room.hub.state.code, room.hub.room.secret, room.hub.told(False), room.hub.room.state.tally))

    async def again(room: Class) -> None:
        assert codes == [(room.hub.state.code, room.hub.room.secret, room.hub.told(False), room.hub.room.state.tally)]
        assert (await room.lead("/anew", {"forget": "zzzz"})).status_code == 400
        new = (await room.lead("/anew", {"forget": room.hub.state.code})).json()["code"]
        assert new != codes[0][0]
        state = (await room.get("/state", headers=LEAD)).json()
        assert (state["question"], state["step"], state["last_point"], state["own"]) == (None, 0, 0, [])
        assert (await room.get("/board")).json() == []

    meet(file, first)
    meet(file, again)


def test_the_code_leads_here(file: Path) -> None:
    async def what(room: Class) -> None:
        address = f"https://space.example/sub/path/w/{room.hub.state.code}"
        picture = await room.get("/qr.svg", params={"address": address})
        assert picture.headers["content-type"] == "image/svg+xml"
        assert picture.text.startswith("<svg")
        for other in ("https://elsewhere.example/", f"javascript:alert(1)//w/{room.hub.state.code}", "x" * 300):
            assert (await room.get("/qr.svg", params={"address": other})).status_code == 400

    meet(file, what)


def test_a_code_is_dark_on_light_with_a_quiet_zone() -> None:
    drawn = qr_code("http://192.168.1.20:7860/w/k7pq").decode()
    width = int(re.search(r'viewBox="0 0 (\d+) \d+"', drawn)[1])  # type: ignore[index]
    assert width >= 21 + 8
    with pytest.raises(Refusal):
        qr_code("http://[broken")


def test_a_pace_is_kept() -> None:
    now = [0.0]
    pace = Pace(per_second=2, burst=3, clock=lambda: now[0])
    for _ in range(3):
        pace.spend("a")
    with pytest.raises(Refusal):
        pace.spend("a")
    pace.spend("b")
    now[0] = 0.5
    pace.spend("a")
    with pytest.raises(Refusal):
        pace.spend("a")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.dictionaries(
    st.sampled_from(
        ["question", "choice", "step", "trace", "view", "speed", "by", "live", "kind", "text", "options", "answer",
         "board", "prompt", "forget", "scene", "revealed", "playing_on"]
    ),
    JSON | st.sampled_from([0, 1, "own", {"en": "x"}, [{"en": "a"}, {"en": "b"}], "' OR '1'='1", "\ud800"]),
    max_size=5,
)  # fmt: skip


def test_nothing_but_clear_answers_to_nonsense(file: Path) -> None:
    """500 requests with arbitrary JSON: never a fault of the server, and what is no vote is never counted."""

    async def what(room: Class) -> None:
        @settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
        @given(st.sampled_from([*PRESENTERS[:4], "/vote", "/run"]), FIELDS | JSON, st.booleans())
        def ask(path: str, value: Any, leads: bool) -> None:
            asked.append((path, value, leads))

        asked: list[tuple[str, Any, bool]] = []
        ask()
        for number, (path, value, leads) in enumerate(asked):
            headers = LEAD if leads else {"x-attendee": f"a-random-name-{number}"}
            text = json.dumps(value)
            answer = await room.http.post(
                f"/w/{room.hub.state.code}{path}",
                content=text.encode("utf-8", "surrogatepass"),
                headers={**headers, "content-type": "application/json"},
            )
            assert answer.status_code in (200, 400, 403, 404, 409, 413, 429), (path, value, answer.text)
            assert answer.status_code == 200 or answer.json()["texts"]["en"]

    meet(file, what)


def test_no_model_and_no_gradio_is_needed_for_it() -> None:
    code = "import sys, specdemo.workshop.routes; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not {"gradio", "torch", "fastapi", "uvicorn"} & {*loaded.stdout.split()}


def test_it_works_below_another_path(file: Path) -> None:
    """A proxy that hands `/demo/…` on, as it is or without `/demo`."""

    async def what(room: Class) -> None:
        code = room.hub.state.code
        whole = Starlette(routes=[Mount("/demo", app(room.hub, room.backend))])
        cut = app(room.hub, room.backend)
        for served, path, root in ((whole, "/demo", ""), (cut, "", "/demo")):
            transport = httpx.ASGITransport(served, root_path=root)
            async with httpx.AsyncClient(transport=transport, base_url="http://room.test") as http:
                assert (await http.get(f"{path}/w/{code}")).status_code == 200
                moved = await http.post(f"{path}/w/{code}/place", json={"step": 3, "by": "tab-one"}, headers=LEAD)
                assert moved.json()["step"] == 3

    meet(file, what)
