"""One switch for the language of all of gradio's components.

Knows gradio's components by what they say. Does not know what they do. The page's own components follow the
language of the page by themselves.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import gradio as gr
from gradio.blocks import Block

from specdemo.ui import i18n

Component = TypeVar("Component", bound=Block)
Say = str | Callable[[str], Any]
"""A key `ui.…`, or a function from the language to the value of a property."""


class Labels:
    """What each component says, by property; and the updates that make all of them say it in one language."""

    def __init__(self) -> None:
        self._says: list[tuple[Block, Mapping[str, Say]]] = []

    def make(self, kind: Callable[..., Component], says: Mapping[str, Say], **options: Any) -> Component:
        """A component that speaks English at first and what the switch says from then on."""
        component = kind(**_said(says, i18n.DEFAULT), **options)
        self._says.append((component, says))
        return component

    @property
    def components(self) -> list[Block]:
        """The outputs of the switch."""
        return [component for component, _ in self._says]

    def relabel(self, language: object) -> list[Any]:
        """One update a component."""
        return [gr.update(**_said(says, i18n.closest(language))) for _, says in self._says]


def _said(says: Mapping[str, Say], language: str) -> dict[str, Any]:
    return {name: say(language) if callable(say) else i18n.text(say, language) for name, say in says.items()}
