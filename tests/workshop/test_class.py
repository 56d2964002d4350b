"""A class of forty scripted attendees and a presenter, over real connections to a server in another process."""

import asyncio
import json
import random
import signal
import socket
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import httpx
import pytest
from class_of import LEAD, SECRET, Canned, Heard, Served, app, listen, serve
from coroutines import complete

from specdemo.workshop.hub import Hub

ATTENDEES = 40
WITHIN_S = 1.0
QUESTION = {"kind": "own", "text": {"en": "Faster?"}, "options": [{"en": "yes"}, {"en": "no"}, {"en": "same"}]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "workshop.sqlite3"


@pytest.fixture
def served(file: Path) -> Iterator[Served]:
    server = serve(file)
    yield server
    server.process.kill()
    server.process.wait()


class Attendee:
    """A page of the class: it listens, and says what it does."""

    def __init__(self, url: str, code: str, number: int) -> None:
        self.number, self.code = number, code
        self.http = httpx.AsyncClient(base_url=url, headers={"x-attendee": f"scripted-attendee-{number:03}"})
        self.heard = Heard()
        self.listening = asyncio.ensure_future(listen(self.http, code, self.heard))

    async def post(self, path: str, value: object) -> httpx.Response:
        return await self.http.post(f"/w/{self.code}/{path}", json=value, timeout=60)

    async def leave(self) -> None:
        self.listening.cancel()
        await asyncio.gather(self.listening, return_exceptions=True)
        await self.http.aclose()


async def lead(http: httpx.AsyncClient, code: str, path: str, value: object) -> httpx.Response:
    answer = await http.post(f"/w/{code}/{path}", json=value, headers=LEAD, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer


def in_class(url: str, code: str, what: Callable[[list[Attendee], httpx.AsyncClient], Awaitable[None]]) -> None:
    async def whole() -> None:
        attendees = [Attendee(url, code, number) for number in range(ATTENDEES)]
        async with httpx.AsyncClient(base_url=url) as presenter:
            await asyncio.gather(*(attendee.heard.until(bool) for attendee in attendees))
            await what(attendees, presenter)
            await asyncio.gather(*(attendee.leave() for attendee in attendees))

    complete(whole())


def test_forty_attendees_and_a_presenter(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    """Everybody is where the presenter is within a second; every vote and every point counts, once."""
    code, rng = served.code, random.Random(1)
    delays: list[float] = []

    async def what(attendees: list[Attendee], presenter: httpx.AsyncClient) -> None:
        for step in range(1, 21):
            sent = time.monotonic()
            await lead(presenter, code, "place", {"trace": "hero", "step": step, "view": "run", "by": "tab-one"})
            seen = await asyncio.gather(*(one.heard.until(lambda s, n=step: s["step"] == n) for one in attendees))
            delays.extend(when - sent for when in seen)
            await asyncio.sleep(0.05)
        assert max(delays) < WITHIN_S

        asked = (await lead(presenter, code, "ask", QUESTION)).json()["question"]["id"]
        choices = {one.number: [rng.randrange(3) for _ in range(rng.randint(1, 4))] for one in attendees}

        async def votes(one: Attendee) -> None:
            for choice in choices[one.number]:
                assert (await one.post("vote", {"question": asked, "choice": choice})).status_code == 200

        await asyncio.gather(*map(votes, attendees))
        await lead(presenter, code, "reveal", {"question": asked, "answer": 1})
        last = [made[-1] for made in choices.values()]
        tally = [last.count(option) for option in range(3)]
        await asyncio.gather(
            *(one.heard.until(lambda s: s["question"] and s["question"]["tally"] == tally) for one in attendees)
        )

        await lead(presenter, code, "place", {"live": True, "by": "tab-one"})
        runs = await asyncio.gather(*(one.post("run", {"prompt": "x", "board": True}) for one in attendees))
        numbers = sorted(json.loads(run.text.splitlines()[-1])["point"] for run in runs)
        assert numbers == list(range(1, ATTENDEES + 1))
        await asyncio.gather(*(one.heard.until(lambda s: s["last_point"] == ATTENDEES) for one in attendees))
        board = (await presenter.get(f"/w/{code}/board")).json()
        assert [point["id"] for point in board] == numbers

    in_class(served.url, code, what)
    with capsys.disabled():
        print(
            f"\n{ATTENDEES} attendees: step seen after {statistics.median(delays):.3f} s, at most {max(delays):.3f} s"
        )


def test_kill_9_in_the_midst_of_a_class(served: Served, file: Path) -> None:
    """The server dies without a word and is started again: same code, same place; pages find back and miss nothing."""
    code = served.code

    async def what(attendees: list[Attendee], presenter: httpx.AsyncClient) -> None:
        await lead(presenter, code, "place", {"trace": "hero", "step": 7, "by": "tab-one"})
        asked = (await lead(presenter, code, "ask", QUESTION)).json()["question"]["id"]
        for one in attendees[:17]:
            await one.post("vote", {"question": asked, "choice": one.number % 3})
        all_in = lambda state: state["question"] and state["question"]["votes"] == 17  # noqa: E731
        await asyncio.gather(*(one.heard.until(all_in) for one in attendees))
        served.process.send_signal(signal.SIGKILL)
        served.process.wait()
        await asyncio.gather(*(one.listening for one in attendees), return_exceptions=True)
        again = await asyncio.to_thread(serve, file, int(served.url.rsplit(":", 1)[1]))
        try:
            assert again.code == code
            late = Attendee(served.url, code, 99)
            await late.heard.until(bool)
            assert (late.heard.state["step"], late.heard.state["question"]["votes"]) == (7, 17)
            await late.leave()
            back = attendees[20]
            heard = len(back.heard.events)
            back.listening = asyncio.ensure_future(listen(back.http, code, back.heard))
            await asyncio.sleep(0.3)
            assert len(back.heard.events) == heard  # it had seen this state already
            await back.post("vote", {"question": asked, "choice": 2})
            await back.heard.until(lambda state: state["question"] and state["question"]["votes"] == 18)
            state = (await presenter.get(f"/w/{code}/state", headers=LEAD)).json()
            assert state["tally"] == [6, 6, 6]
        finally:
            again.process.kill()
            again.process.wait()

    in_class(served.url, code, what)


def test_a_page_that_never_reads_holds_nobody_up(served: Served) -> None:
    """It is sent no more than its connection takes in; the others hear as fast as ever."""
    code, port = served.code, int(served.url.rsplit(":", 1)[1])
    deaf = socket.create_connection(("127.0.0.1", port))
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    deaf.sendall(f"GET /w/{code}/events HTTP/1.1\r\nHost: x\r\n\r\n".encode())

    async def what() -> None:
        one = Attendee(served.url, code, 1)
        async with httpx.AsyncClient(base_url=served.url) as presenter:
            await one.heard.until(bool)
            await lead(presenter, code, "ask", QUESTION)
            for step in range(1, 61):
                await lead(presenter, code, "place", {"step": step, "by": "tab-one"})
            sent = time.monotonic()
            await lead(presenter, code, "place", {"step": 1000, "by": "tab-one"})
            assert await one.heard.until(lambda state: state["step"] == 1000) - sent < WITHIN_S
            state = (await presenter.get(f"/w/{code}/state", headers=LEAD)).json()
            assert state["here"] == 2
        await one.leave()
        deaf.close()
        async with httpx.AsyncClient(base_url=served.url) as presenter:
            deadline = time.monotonic() + 10
            while (await presenter.get(f"/w/{code}/state", headers=LEAD)).json()["here"]:
                assert time.monotonic() < deadline, "who has left is still counted"
                await asyncio.sleep(0.05)

    complete(what())


def test_the_stream_passes_proxies_and_stays_awake(served: Served) -> None:
    code = served.code
    with httpx.stream("GET", f"{served.url}/w/{code}/events", headers=LEAD) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["x-accel-buffering"] == "no"
        assert "no-transform" in answer.headers["cache-control"]
        lines = answer.iter_lines()
        assert next(line for line in lines if line.startswith("retry:"))
        state = json.loads(next(line for line in lines if line.startswith("data:"))[5:])
        assert state["tally"] == []
    wrong = httpx.get(f"{served.url}/w/{code}/events", headers={"authorization": f"Bearer {SECRET}x"})
    assert wrong.status_code == 403


def test_a_page_that_leaves_ends_its_run(served: Served) -> None:
    """The place of its run is free again at once."""
    code = served.code
    me = {"x-attendee": "scripted-attendee-1"}
    httpx.post(f"{served.url}/w/{code}/place", json={"live": True, "by": "tab-one"}, headers=LEAD)
    for _ in range(3):
        with httpx.stream("POST", f"{served.url}/w/{code}/run", json={"prompt": "x"}, headers=me) as answer:
            assert answer.status_code == 200
            next(answer.iter_lines())
        time.sleep(0.3)


@pytest.mark.parametrize("ends", ["server", "workshop"])
def test_every_stream_ends_with_the_server_and_with_its_workshop(file: Path, ends: str) -> None:
    async def what() -> None:
        hub = Hub(file, SECRET)
        transport = httpx.ASGITransport(app(hub, Canned()))
        async with httpx.AsyncClient(transport=transport, base_url="http://room.test") as http:
            reading = asyncio.ensure_future(http.get(f"/w/{hub.state.code}/events"))
            while not hub.here:
                await asyncio.sleep(0.01)
            if ends == "server":
                await asyncio.to_thread(hub.end)
            else:
                await hub.ask(hub.room.begin_anew)
            answer = await asyncio.wait_for(reading, 5)
            assert "event: state" in answer.text
        hub.close()

    complete(what())
