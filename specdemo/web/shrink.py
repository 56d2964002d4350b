"""Scripts and styles without what only their authors read: comments, and the space that lines begin with.

Knows how this project writes them: a comment has its lines to itself. Does not parse; what it could mistake it refuses.
"""

import re

BLOCK = re.compile(r"^[ \t]*/\*.*?\*/[ \t]*$", re.M | re.S)
STYLE_COMMENT = re.compile(r"/\*.*?\*/", re.S)
QUOTED = re.compile(r"""\"[^"]*\"|(?<=[=(,:!&|?\s])/(?:\[[^\]]*\]|[^/\[])+/""")
GROUP = re.compile(r"\s*@(media|container|supports)\b")


def script(source: str) -> str:
    """The script without comments and indentation. A text over several lines, which that would change, is refused."""
    lines = [line.strip() for line in BLOCK.sub("", source).split("\n")]
    kept = [line for line in lines if line and not line.startswith("//")]
    for line in kept:
        if _open(line):
            raise ValueError(f"cannot shrink a text over several lines: {line[:60]!r}")
    return "\n".join(kept) + "\n"


def _open(line: str) -> bool:
    """True if a text in backticks begins on the line and does not end there. Those in quotes and patterns are none."""
    bare = re.sub(r"\\.", "", line)
    return bare.count("`") % 2 == 1 and QUOTED.sub("", bare).count("`") % 2 == 1


def style(source: str, foreign: re.Pattern[str] | None = None) -> str:
    """The styles without comments, indentation and the rules whose every selector begins with `foreign`."""
    bare = "\n".join(filter(None, (line.strip() for line in STYLE_COMMENT.sub("", source).split("\n"))))
    return "".join(_kept(bare, foreign)) if foreign else bare + "\n"


def _kept(source: str, foreign: re.Pattern[str]) -> list[str]:
    kept = []
    for prelude, body in _rules(source):
        if GROUP.match(prelude):
            if inner := "".join(_kept(body, foreign)):
                kept.append(f"{prelude}{{\n{inner}}}\n")
        elif selectors := [one for one in _selectors(prelude) if not foreign.match(one)]:
            kept.append(f"{', '.join(selectors)} {{{body}}}\n")
    return kept


def _rules(source: str) -> list[tuple[str, str]]:
    """The rules at the top as (what stands before the brace, what stands within)."""
    rules, start, opened, depth = [], 0, 0, 0
    for brace in re.finditer(r"[{}]", source):
        if brace[0] == "{":
            if depth == 0:
                opened = brace.start()
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                rules.append((source[start:opened].strip(), source[opened + 1 : brace.start()].strip()))
                start = brace.end()
    if depth or source[start:].strip():
        raise ValueError("the styles have braces that do not match")
    return rules


def _selectors(prelude: str) -> list[str]:
    """The selectors of a rule: parted by commas, but not by those within parentheses."""
    parts, depth = [""], 0
    for sign in prelude:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]
