"""The empty boxes that the scripts of a page fill.

Knows their class names, by which scripts and styles find them. Does not know what comes into them.
"""

HEAD = '<header class="sp-head"></header>'
STAGE = (
    '<div class="sp-stage"><div class="sp-reel"></div><div class="sp-tour"></div><div class="sp-player"></div></div>'
)
LAB = '<div class="sd-root sp-lab"></div>'
"""A tab beside the stage."""
LESSONS = '<aside class="sd-root sp-lessons" hidden></aside>'
"""The panel that leads through the page."""
