"""Whatever a program sends: an answer or a sentence that says what to change, never a fault of ours, never a hang."""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Any

import gradio as gr
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_pair import ToyPair

from specdemo import drafters
from specdemo.config import RULES, RunConfig
from specdemo.device import Device
from specdemo.errors import UserError
from specdemo.prompts import hero
from specdemo.ui.answers import answers
from specdemo.ui.callbacks import Callbacks
from specdemo.ui.measure import Measures
from specdemo.ui.models import Models
from specdemo.ui.prove import Proofs
from specdemo.ui.replays import Library
from specdemo.ui.runs import Runs
from specdemo.ui.settings import FIELDS, Limits

NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70), st.floats(), st.sampled_from(["4", "1e3", "٣", " 7 ", "0x10", "1_000", "nan", "-inf"])
)
ODD_TEXTS = st.sampled_from(["\ud800", "\x00", "{name}", "/etc/passwd"])
STRANGE = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(), ODD_TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=6,
)  # fmt: skip
FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def mostly(good: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Good values most of the time, so that examples get past the first check."""
    return st.one_of(good, good, good, STRANGE)


VALUES = {
    "prompt": mostly(st.text(min_size=1)),
    "pair": mostly(st.just("smollm2-135m")),
    "drafter": mostly(st.sampled_from(["none", *drafters.ids()])),
    "gamma": mostly(st.integers(0, 9)),
    "policy": mostly(st.sampled_from(["constant", "heuristic", "confidence"])),
    "confidence": mostly(st.floats(0, 1)),
    "temperature": mostly(st.floats(0, 2)),
    "top_k": mostly(st.integers(0, 50)),
    "top_p": mostly(st.floats(0.1, 1)),
    "max_new_tokens": mostly(st.integers(1, 8)),
    "seed": mostly(st.integers(0, 99)),
    "exact": mostly(st.booleans()),
    "rule": mostly(st.sampled_from(RULES)),
    "knobs": mostly(st.sampled_from(["", "{}", '{"max_n": "3"}'])),
}


class Faults(logging.Handler):
    """What was logged as a fault of ours."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(logging.Formatter().format(record))


@pytest.fixture(scope="module")
def page() -> Iterator[Callbacks]:
    device = Device()
    models = Models(device, lambda spec, progress: ToyPair())
    runs = Runs(device, models)
    yield Callbacks(models, runs, Limits(max_new_tokens=8, start=RunConfig(max_new_tokens=8)), hero().text)
    device.shutdown()


@pytest.fixture
def faults() -> Iterator[Faults]:
    handler, log = Faults(), logging.getLogger("specdemo")
    log.addHandler(handler)
    yield handler
    log.removeHandler(handler)


def request(**query: str) -> gr.Request:
    made = gr.Request(session_hash="fuzz")
    made.kwargs = {"query_params": query}
    return made


def settled(faults: Faults, act: Callable[[], Any]) -> None:
    """Does it; a sentence is an answer, a fault of ours is not."""
    faults.found.clear()
    with suppress(gr.Error):
        act()
    assert not faults.found, faults.found[0]


@FEW
@given(
    given=st.fixed_dictionaries(
        {}, optional={name: VALUES[name] for name in FIELDS if name not in ("exact", "confidence")}
    )
)
def test_generate(page: Callbacks, faults: Faults, given: dict[str, Any]) -> None:
    settled(faults, lambda: list(page.generate(**({"prompt": "x", "max_new_tokens": 4} | given), request=request())))


@FEW
@given(values=st.tuples(*(VALUES[name] for name in (*FIELDS, "knobs"))))
def test_a_run_of_the_page(page: Callbacks, faults: Faults, values: tuple[Any, ...]) -> None:
    settled(faults, lambda: list(page.run(request(), *values)))
    settled(faults, lambda: page.code(*values))


@FEW
@given(query=st.dictionaries(st.sampled_from([*FIELDS, "lang", "knob.max_n", "stop", "raw"]), st.text(), max_size=4))
def test_addresses(page: Callbacks, faults: Faults, query: dict[str, str]) -> None:
    settled(faults, lambda: page.restore(request(**query)))


@FEW
@given(values=st.tuples(VALUES["pair"], VALUES["drafter"], VALUES["temperature"], VALUES["rule"]))
def test_small_functions(page: Callbacks, faults: Faults, values: tuple[Any, ...]) -> None:
    settled(faults, lambda: page.notes(*values))
    settled(faults, lambda: page.suit(*values[:2]))
    settled(faults, lambda: page.choose_prompt(values[0]))


class Sent:
    """An event of the stage with the data that a program made up."""

    def __init__(self, data: Any) -> None:
        self._data = data


TRACE = Library().text(Library().all[0].id) if Library().all else ""


@FEW
@given(data=st.one_of(STRANGE, st.fixed_dictionaries({"text": STRANGE, "theme": STRANGE, "language": STRANGE})))
def test_figures(page: Callbacks, faults: Faults, data: Any) -> None:
    settled(faults, lambda: page.figures(Sent(data)))


@FEW
@given(
    data=st.one_of(
        STRANGE,
        st.fixed_dictionaries({"text": STRANGE, "language": STRANGE}),
        st.fixed_dictionaries({"texts": st.lists(st.one_of(STRANGE, st.just(TRACE)), max_size=3), "names": STRANGE}),
    )
)
def test_what_the_stage_may_ask(faults: Faults, data: Any) -> None:
    for function in answers(Library()):
        settled(faults, lambda function=function: json.dumps(function(data)))


@FEW
@given(line=st.integers(0, 30), text=st.text(max_size=40))
def test_broken_traces(faults: Faults, line: int, text: str) -> None:
    lines = TRACE.splitlines()[:40]
    at = min(line, len(lines) - 1)
    (opened,) = (function for function in answers(Library()) if function.__name__ == "opened_file")
    for broken in (text, lines[at][: len(text)], lines[at].replace("1", text[:1] or "2", 1)):
        changed = "\n".join([*lines[:at], broken, *lines[at + 1 :]]) + "\n"
        settled(faults, lambda changed=changed: json.dumps(opened(changed)))


ASKED = {
    "n": mostly(st.integers(100, 300)),
    "depth": mostly(st.integers(0, 3)),
    "mode": mostly(st.sampled_from(["loaded", "exact"])),
    "kind": mostly(st.sampled_from(["gamma", "temperature", "drafters", "policy", "lunch"])),
    "prompts": STRANGE,
    "listed": STRANGE,
    "file": STRANGE,
    "gammas": STRANGE,
    "temperatures": STRANGE,
    "drafters": STRANGE,
}


@settings(FEW, max_examples=25)
@given(
    asked=st.fixed_dictionaries(
        {"prompt": VALUES["prompt"], "pair": VALUES["pair"]},
        optional=ASKED
        | {name: VALUES[name] for name in ("drafter", "rule", "gamma", "temperature", "seed", "max_new_tokens")},
    )
)
def test_proofs_and_measurements(page: Callbacks, asked: dict[str, Any]) -> None:
    """They raise what the page shows as a sentence: a `UserError` and nothing else."""
    runs, models, limits = page._runs, page._models, page._limits
    proofs = Proofs(runs._device, models, runs, limits)
    measures = Measures(runs._device, models, runs, limits, Library())
    for work in (proofs.sampled, proofs.greedy, measures.measure):
        with suppress(UserError), closing(work(asked, "fuzz")) as states:
            json.dumps(next(states, None))
