"""Workshop mode put together: the room's file, the pages, and live runs on the models of this page.

Knows the parts of the program that a workshop needs. Decides nothing about rooms.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from starlette.routing import BaseRoute

from specdemo import drafters, trace
from specdemo.core.result import collect
from specdemo.errors import SettingError, TraceError
from specdemo.paths import ASSETS, cache_dir
from specdemo.prompts import load_prompts
from specdemo.site.page import Options
from specdemo.site.page import page as site_page
from specdemo.ui import replays
from specdemo.ui.gate import Readers
from specdemo.ui.problems import sentence
from specdemo.ui.replays import Library
from specdemo.ui.runs import Runs
from specdemo.ui.settings import Limits, config_of
from specdemo.web import lessons, shrink
from specdemo.web.bundle import bundle
from specdemo.web.texts import texts
from specdemo.workshop.hub import Hub
from specdemo.workshop.link import is_page, local_address
from specdemo.workshop.records import Point, Shown, Texts
from specdemo.workshop.routes import ATTENDEE_TOKENS, PRESENTER_TOKENS, ROOT, Routes

FOLDER = ASSETS / "workshop"
FILE = "workshop.sqlite3"
MAY_SET = ("prompt", "drafter", "gamma", "temperature", "max_new_tokens", "seed")
"""The settings of a live run in class. Everything else is as the page begins."""
PROMPT_CHARACTERS = 4000
LOOPBACK = re.compile(r"//(0\.0\.0\.0|127\.0\.0\.1|localhost)\b")
"""A server that names itself so is known to others by its address in the network."""
TEXTS = ("workshop.", "player.drafter.", "player.fate.")


class Classroom:
    """What a workshop needs of this program (`specdemo.workshop.backend.Backend`)."""

    def __init__(self, runs: Runs, limits: Limits, library: Library, readers: Readers) -> None:
        self._runs, self._limits, self._library, self._readers = runs, limits, library, readers

    def page(self, code: str | None, presenter: bool) -> str:
        return _page(code, presenter)

    def shipped(self) -> Sequence[Shown]:
        return [Shown(one.id, one.titles) for one in self._library.all]

    def shipped_text(self, id: str) -> str | None:
        return self._library.text(id) if any(one.id == id for one in self._library.all) else None

    def checked(self, text: str) -> str:
        return replays.written(replays.read(text))

    def live(self, values: Mapping[str, object], most_tokens: int, visitor: str) -> Iterator[str]:
        for name, value in values.items():
            if name not in MAY_SET or isinstance(value, dict | list):
                raise SettingError("not_a_choice", name=name, value="", choices=", ".join(MAY_SET))
        start = {"pair": self._limits.pairs[0], "max_new_tokens": most_tokens}
        limits = replace(self._limits, max_new_tokens=most_tokens, prompt_characters=PROMPT_CHARACTERS)
        config = config_of(start | dict(values), limits)
        self._readers.enter(visitor)
        try:
            with self._runs.asked(config, visitor) as run:
                for place in run.waits():
                    yield json.dumps({"ahead": place.ahead if place else None}) + "\n"
                yield from run.pieces()
        finally:
            self._readers.leave(visitor)

    def stop(self, visitor: str) -> None:
        self._runs.stop(visitor)

    def point(self, text: str) -> Point | None:
        return point_of(text)

    def said(self, error: Exception) -> Texts:
        return sentence(error)


def point_of(text: str) -> Point | None:
    """What the board shows of a run: its drafting lane against plain decoding; None where there is too little of it."""
    lines = [line + "\n" for line in text.split("\n") if line and not line.startswith('{"ahead"')]
    try:
        recorded = trace.parse("".join(lines).encode())
    except TraceError:
        return None
    results = collect(recorded.events)
    drafting = {name: lane.started.drafter != "none" for name, lane in results.lanes.items() if lane.started}
    fast = next((name for name, drafts in drafting.items() if drafts), None)
    plain = next((name for name, drafts in drafting.items() if not drafts), None)
    if fast is None or plain is None or not all(lane.finished for lane in results.lanes.values()):
        return None
    comparison, metrics = results.compare(fast, plain), results.lanes[fast].metrics
    if comparison.too_short or comparison.speedup is None or metrics is None:
        return None
    settings = recorded.header.settings
    return Point(
        drafter=settings.drafter,
        gamma=settings.gamma,
        temperature=settings.sampling.temperature,
        tokens=comparison.tokens,
        alpha=metrics.alpha,
        speedup=comparison.speedup,
        c=comparison.c,
        v=comparison.v,
    )


@cache
def _page(code: str | None, presenter: bool) -> str:
    given: dict[str, Any] = {
        "code": code,
        "texts": texts(TEXTS),
        "most": {"attendee": ATTENDEE_TOKENS, "presenter": PRESENTER_TOKENS},
        "drafters": [one.id for one in drafters.entries() if not one.control and one.id not in ("none", "model")],
        "prompts": [{"id": one.id, "titles": dict(one.titles), "text": one.text} for one in load_prompts()],
    }
    if presenter:
        given["lessons"] = lessons.data()
    entry = FOLDER / ("lead.js" if presenter else "follow.js")
    script = shrink.script(f"const specdemoWorkshop = {bundle(entry)};\n")
    begin = f"specdemoReady.then((page) => specdemoWorkshop.start(page, {_data(given)}));"
    style = shrink.style((FOLDER / "workshop.css").read_text(encoding="utf-8"))
    return site_page(
        (),
        Options(
            title="specdemo",
            follows=True,
            tabs=("watch",),
            head=f"<style>{style}</style>",
            above='<div id="ws-above" class="ws"></div>',
            below='<div id="ws-below" class="ws"></div>',
            script=script + begin,
        ),
    )


def _data(value: object) -> str:
    """JSON within a script: no text in it can end the element."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")


class Workshop:
    """A workshop on this server. public: the address by which attendees reach it, if this machine cannot know it."""

    def __init__(self, classroom: Classroom, folder: str | None, secret: str | None, public: str | None) -> None:
        if public and not is_page(public):
            raise SettingError("workshop_address", value=public)
        self.hub = Hub((Path(folder) if folder else cache_dir() / "workshop") / FILE, secret)
        self._public, self._given = public, bool(secret)
        self.routes: list[BaseRoute] = Routes(self.hub, classroom, public).all()

    def invitation(self, address: str) -> str:
        """The two addresses, to be printed where only the presenter sees them. address: of this server."""
        code = self.hub.state.code
        own = (self._public or LOOPBACK.sub("//127.0.0.1", address)).rstrip("/")
        far = (self._public or LOOPBACK.sub(f"//{local_address() or '127.0.0.1'}", address)).rstrip("/")
        secret = "SECRET" if self._given else self.hub.room.secret
        return (
            f"workshop {code}\n  presenter: {own}{ROOT}/{code}?view=present#{secret}\n  attendees: {far}{ROOT}/{code}"
        )
