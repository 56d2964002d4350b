"""The addresses of a workshop, all under `/w`: its page, its events, its votes, runs and board.

Knows HTTP and who may do what. Decides nothing about rooms. Every refusal is JSON {"error", "texts"}, a sentence in
each language.
"""

import gzip
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from specdemo.errors import UserError
from specdemo.workshop import asking, link, records
from specdemo.workshop.backend import Backend
from specdemo.workshop.board import table
from specdemo.workshop.hub import Hub
from specdemo.workshop.live import LiveRuns
from specdemo.workshop.pace import Pace
from specdemo.workshop.records import Question
from specdemo.workshop.refusal import Refusal
from specdemo.workshop.stream import EventStream

ROOT = "/w"
MOST_TRACE = 5_000_000
ATTENDEE_TOKENS, PRESENTER_TOKENS = 32, 128
"""The longest live run of each."""
FOR_GOOD = {"cache-control": "private, max-age=86400, immutable"}
NOT_KEPT = {"cache-control": "no-store"}

Handler = Callable[[Request], Awaitable[Any]]


class Routes:
    """The handlers of one workshop."""

    def __init__(self, hub: Hub, backend: Backend, public: str | None = None) -> None:
        """public: the address by which others reach this server, where it cannot be known from within."""
        self._hub, self._backend, self._public = hub, backend, public.rstrip("/") if public else None
        self._runs = LiveRuns(backend.stop, self._problem)
        self._pace = Pace(per_second=4, burst=20)
        self._lead = Pace(per_second=20, burst=100)
        self._texts: OrderedDict[str, bytes] = OrderedDict()

    def all(self) -> list[BaseRoute]:
        """To be put in front of the server's own."""
        own = [
            ("/{code}/state", "GET", self.state),
            ("/{code}/events", "GET", self.events),
            ("/{code}/traces/{id}", "GET", self.trace),
            ("/{code}/questions/{id:int}", "GET", self.question),
            ("/{code}/board", "GET", self.points),
            ("/{code}/board.csv", "GET", self.csv),
            ("/{code}/qr.svg", "GET", self.qr),
            ("/{code}/vote", "POST", self.vote),
            ("/{code}/run", "POST", self.run),
            ("/{code}/place", "POST", self.move),
            ("/{code}/traces", "POST", self.keep),
            ("/{code}/ask", "POST", self.ask),
            ("/{code}/reveal", "POST", self.reveal),
            ("/{code}/dismiss", "POST", self.dismiss),
            ("/{code}/anew", "POST", self.begin_anew),
        ]
        routes: list[BaseRoute] = [Route(ROOT + path, self._refusing(do), methods=[method]) for path, method, do in own]
        return [*routes, *(Route(ROOT + path, self.page) for path in ("", "/", "/{code}", "/{code}/"))]

    # --- what everybody may see -----------------------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        """The page of presenter and attendees. With a code of no workshop it says so and asks for the right one."""
        code = request.path_params.get("code")
        known = code == self._hub.state.code
        presents = request.query_params.get("view") == "present"
        text = await run_in_threadpool(self._backend.page, code if known else None, presents)
        status = 200 if known or code is None else 404
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return HTMLResponse(text, status, headers=NOT_KEPT)
        data = await run_in_threadpool(_zipped, text)
        return HTMLResponse(data, status, headers={**NOT_KEPT, "content-encoding": "gzip"})

    async def state(self, request: Request) -> Response:
        """What a page needs at its start: the state, the runs, what this attendee answered."""
        presenter = self._check(request)
        value = json.loads(self._hub.told(presenter)[1])
        if presenter:
            value["shipped"] = [asdict(shown) for shown in self._backend.shipped()]
            value |= {"public": self._public, "local": self._local(request)}
        elif request.headers.get(asking.ME):
            value["choice"] = await self._hub.ask(self._hub.room.choice, asking.attendee_of(request))
        return JSONResponse(value, headers=NOT_KEPT)

    def _local(self, request: Request) -> str | None:
        """Where others in this machine's network find the server, for a presenter who sits at the machine itself."""
        found, port = link.local_address(), request.url.port
        return f"{request.url.scheme}://{found}{f':{port}' if port else ''}" if found else None

    async def events(self, request: Request) -> Any:
        """The stream of states."""
        presenter = self._check(request)
        # Asked here, where a refusal is still an answer: the stream begins when nobody can say no any more.
        self._hub.require_place(presenter)
        return EventStream(self._hub, presenter, request.headers.get("last-event-id", ""))

    async def trace(self, request: Request) -> Response:
        """A run as text, compressed. What a name stands for never changes."""
        self._check(request)
        id = records.name("trace", request.path_params["id"])
        data = self._texts.get(id) or await self._read_trace(id)
        self._texts[id] = data
        while len(self._texts) > 32:
            self._texts.popitem(last=False)
        headers = FOR_GOOD if id.startswith("own-") else {"cache-control": "no-cache"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(data, media_type="application/x-ndjson", headers={**headers, "content-encoding": "gzip"})
        return Response(gzip.decompress(data), media_type="application/x-ndjson", headers=headers)

    async def _read_trace(self, id: str) -> bytes:
        kept = await self._hub.ask(self._hub.room.trace, id)
        if kept is None:
            text = await run_in_threadpool(self._backend.shipped_text, id)
            if text is None:
                raise Refusal("workshop_trace_unknown", status=404, value=id)
            kept = await run_in_threadpool(gzip.compress, text.encode(), 9)
        return kept

    async def question(self, request: Request) -> Response:
        """The words of the question of that number: {kind, text, options}."""
        self._check(request)
        asked = self._hub.state.asked
        if asked is None or asked.id != request.path_params["id"]:
            raise Refusal("workshop_vote_closed", status=409)
        return JSONResponse(asdict(asked.question), headers=FOR_GOOD)

    async def points(self, request: Request) -> Response:
        """The board: [{id, …}] with a number above `after`."""
        self._check(request)
        after = request.query_params.get("after", "0")
        if not after.isdecimal() or not after.isascii() or len(after) > 9:
            raise Refusal("workshop_body", reason="after?")
        found = await self._hub.ask(self._hub.room.points, int(after))
        return JSONResponse([{"id": id} | asdict(point) for id, point in found], headers=NOT_KEPT)

    async def csv(self, request: Request) -> Response:
        """The board as a file."""
        self._check(request)
        text = table(await self._hub.ask(self._hub.room.points))
        name = f'attachment; filename="specdemo-board-{self._hub.state.code}.csv"'
        return Response(text, media_type="text/csv; charset=utf-8", headers={**NOT_KEPT, "content-disposition": name})

    async def qr(self, request: Request) -> Response:
        """An address of this workshop as a picture."""
        self._check(request)
        address = request.query_params.get("address", "")
        if not address.endswith(f"{ROOT}/{self._hub.state.code}"):
            raise Refusal("workshop_body", reason="address?")
        return Response(link.qr_code(address), media_type="image/svg+xml", headers=NOT_KEPT)

    # --- what attendees may do ------------------------------------------------------------------------------------

    async def vote(self, request: Request) -> Response:
        """{question, choice}: one vote for each attendee, the last one counts."""
        self._check(request)
        me = asking.attendee_of(request)
        self._pace.spend(me)
        given = await asking.fields_of(request)
        question = records.whole("question", given.get("question"), 1, 2**31)
        choice = records.whole("choice", given.get("choice"), 0, records.MOST_OPTIONS - 1)
        await self._hub.ask(self._hub.room.vote, question, me, choice)
        return JSONResponse({"choice": choice})

    async def run(self, request: Request) -> Response:
        """A live run as a growing trace. board: it also goes to the class board; then the last line is {"point"}."""
        presenter = self._check(request)
        visitor = "presenter" if presenter else f"attendee-{asking.attendee_of(request)}"
        if not presenter and not self._hub.state.place.live:
            raise Refusal("workshop_live_off", status=403)
        self._pace.spend(visitor)
        given = await asking.fields_of(request)
        board = records.truth("board", given.pop("board", False))
        values = {records.name("field", key): value for key, value in given.items()}
        self._runs.begin(visitor)
        lines = self._lines(visitor, values, PRESENTER_TOKENS if presenter else ATTENDEE_TOKENS, board)
        headers = {"x-accel-buffering": "no", "cache-control": "no-store, no-transform"}
        return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)

    async def _lines(self, visitor: str, values: dict[str, Any], most: int, board: bool) -> Any:
        text = ""
        async for piece in self._runs.pieces(visitor, self._backend.live(values, most, visitor)):
            text += piece
            yield piece
        if board and '\n{"problem"' not in "\n" + text:
            point = await run_in_threadpool(self._backend.point, text)
            number = (await self._hub.ask(self._hub.room.add_point, point))[1] if point else None
            yield json.dumps({"point": number}) + "\n"

    # --- what the presenter may do --------------------------------------------------------------------------------

    async def move(self, request: Request) -> Response:
        """{trace, step, speed, …, by, playing_on}: the presenter goes elsewhere."""
        given = await self._presenters(request)
        playing_on = records.truth("playing_on", given.pop("playing_on", False))
        await self._hub.ask(self._hub.room.move, given, playing_on)
        return self._done()

    async def keep(self, request: Request) -> Response:
        """A trace as it is in a file, to be shown to the class. Answers with its id."""
        self._check(request, presenter=True)
        self._lead.spend("traces")
        text = (await asking.body_of(request, MOST_TRACE)).decode("utf-8", errors="replace")
        title = records.printable(request.query_params.get("title", ""))[:80].strip()
        checked = await run_in_threadpool(self._backend.checked, text)
        _, id = await self._hub.ask(self._hub.room.keep, {"en": title} if title else {}, checked)
        return JSONResponse({"id": id})

    async def ask(self, request: Request) -> Response:
        """{kind, text, options}: a question to the class."""
        await self._hub.ask(self._hub.room.ask, Question.of(await self._presenters(request)))
        return self._done()

    async def reveal(self, request: Request) -> Response:
        """{question, answer}: the end of the voting; answer is the number of an option, or null."""
        given = await self._presenters(request)
        question = records.whole("question", given.get("question"), 1, 2**31)
        await self._hub.ask(self._hub.room.reveal, question, given.get("answer"))
        return self._done()

    async def dismiss(self, request: Request) -> Response:
        """The question goes away."""
        await self._presenters(request)
        await self._hub.ask(self._hub.room.dismiss)
        return self._done()

    async def begin_anew(self, request: Request) -> Response:
        """{"forget": code}: an empty workshop with another code."""
        given = await self._presenters(request)
        if given.get("forget") != self._hub.state.code:
            raise Refusal("workshop_body", reason="forget?")
        state = await self._hub.ask(self._hub.room.begin_anew)
        self._texts.clear()
        return JSONResponse({"code": state.code})

    async def _presenters(self, request: Request) -> dict[str, Any]:
        self._check(request, presenter=True)
        self._lead.spend("presenter")
        return await asking.fields_of(request)

    def _check(self, request: Request, presenter: bool = False) -> bool:
        """True for the presenter. `Refusal` for another code, a wrong secret, or none where one is needed."""
        code = str(request.path_params.get("code", ""))
        if code != self._hub.state.code:
            raise Refusal("workshop_code", status=404, code=records.printable(code)[:12])
        secret = asking.secret_of(request)
        if (secret or presenter) and not self._hub.room.is_presenter(secret):
            raise Refusal("workshop_secret", status=403)
        return bool(secret)

    def _done(self) -> Response:
        return Response(self._hub.told(True)[1], media_type="application/json", headers=NOT_KEPT)

    def _problem(self, error: Exception) -> str:
        return json.dumps({"problem": self._backend.said(error)}, ensure_ascii=False) + "\n"

    def _refusing(self, handler: Handler) -> Handler:
        """The handler, with sentences in place of errors that somebody can mend."""

        async def answer(request: Request) -> Any:
            try:
                return await handler(request)
            except UserError as error:
                status = error.status if isinstance(error, Refusal) else 400
                body = {"error": error.key, "texts": self._backend.said(error)}
                return JSONResponse(body, status, headers=NOT_KEPT)

        return answer


@lru_cache(maxsize=8)
def _zipped(text: str) -> bytes:
    return gzip.compress(text.encode(), 6)
