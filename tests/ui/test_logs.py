"""The log: one line for a run, for people or for programs."""

import io
import json
import logging
from collections.abc import Callable, Iterator

import pytest

from specdemo.config import RunConfig
from specdemo.ui import logs

LOG = logging.getLogger("specdemo")


@pytest.fixture
def logged() -> Iterator[Callable[..., list[str]]]:
    """A function that writes with the log as asked for and returns the lines."""
    before = (LOG.handlers[:], LOG.propagate, LOG.level)

    def write(form: str, *acts: Callable[[], None]) -> list[str]:
        stream = io.StringIO()
        stop = logs.configure(form, stream)
        for act in acts:
            act()
        stop()
        return stream.getvalue().splitlines()

    yield write
    LOG.handlers[:], LOG.propagate = before[:2]
    LOG.setLevel(before[2])


def run_ends() -> None:
    record = logs.RunRecord(RunConfig(prompt="my secret\nplan", gamma=3), tokens={"speculative": 40, "baseline": 39})
    record.began()
    record.first_token()
    record.write("finished")


def fault() -> None:
    try:
        raise ZeroDivisionError("a bug")
    except ZeroDivisionError as error:
        LOG.error("unexpected error", exc_info=error)


def test_a_run_is_one_object_for_programs(logged: Callable[..., list[str]]) -> None:
    (line,) = logged("json", run_ends)
    facts = json.loads(line)
    assert facts["event"] == "run"
    assert facts["outcome"] == "finished"
    assert facts["tokens"] == {"speculative": 40, "baseline": 39}
    assert facts["gamma"] == 3
    assert facts["waited_s"] >= 0
    assert facts["total_s"] >= facts["first_token_s"]
    assert {"time", "level"} <= facts.keys()
    assert "secret" not in line


def test_a_run_is_one_line_for_people(logged: Callable[..., list[str]]) -> None:
    (line,) = logged("text", run_ends)
    assert "run finished: smollm2-135m" in line
    assert "40+39 tokens" in line
    assert "secret" not in line


def test_a_fault_is_one_object_with_its_traceback(logged: Callable[..., list[str]]) -> None:
    (line,) = logged("json", fault)
    facts = json.loads(line)
    assert facts["event"] == "error"
    assert "ZeroDivisionError: a bug" in facts["traceback"]


def test_off_is_silent(logged: Callable[..., list[str]]) -> None:
    assert logged("off", run_ends, fault) == []
