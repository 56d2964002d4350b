"""The Theory tab: formulas and laws to play with, all of it in the browser.

Knows its one component. Does not know models, and is never asked anything.
"""

import gradio as gr

from specdemo.ui import elements


def build() -> gr.HTML:
    """Makes the tab. Call it inside the blocks of the page."""
    return elements.lab("theory")
