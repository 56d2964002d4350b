"""Events of the tabs: whatever a visitor sends, the answer is a state."""

import json
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from specdemo.ui.tabs.asking import asking, question


@pytest.mark.parametrize("sent", [None, "text", 3, ["pair"], {}])
def test_what_is_no_question_is_an_empty_one(sent: object) -> None:
    assert question(gr.EventData(None, sent)) == {}


@pytest.mark.parametrize("sent", [None, ["pair"], {"pair": "another", "n": 3}])
def test_a_question_is_about_the_pair_in_use(sent: object) -> None:
    def test(asked: Mapping[str, Any], visitor: str) -> Iterator[dict[str, Any]]:
        yield {"state": "done", "asked": dict(asked), "visitor": visitor}

    request: Any = SimpleNamespace(session_hash="me")
    states = [
        json.loads(value)
        for value in asking(lambda asked: f"of {asked['pair']}", test)("mine", gr.EventData(None, sent), request)
    ]
    assert [state["state"] for state in states] == ["waiting", "done"]
    assert {state["kind"] for state in states} == {"of mine"}
    assert states[-1]["asked"]["pair"] == "mine"
    assert states[-1]["visitor"] == "me"
