"""The documentation of a rule, which is Markdown: cut into sections, set in HTML or on a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.reports.screen import Screen

_ITEM = re.compile(r"(?:[-*]|\d+\.) +")


def sections(documentation: str) -> list[tuple[str, str]]:
    """(heading, Markdown) pairs; what comes before the first heading has the heading ""."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line in documentation.splitlines():
        if line.startswith("## "):
            parts.append((line[3:].strip(), []))
        else:
            parts[-1][1].append(line)
    return [(heading, "\n".join(lines).strip("\n")) for heading, lines in parts]


def to_html(documentation: str, *, top: int) -> str:
    """HTML with headings from level `top` on. Raw HTML is escaped, and nothing is loaded from anywhere."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).disable("image")
    tokens = parser.parse(documentation)
    for token in tokens:
        if token.type.startswith("heading"):
            token.tag = f"h{min(6, int(token.tag[1:]) - 2 + top)}"
    return str(parser.renderer.render(tokens, parser.options, {}))


def to_screen(screen: Screen, markdown: str, *, indent: int) -> None:
    """Paragraphs and list items wrapped, code as it is. rich's Markdown would drop the backticks without colour."""
    margin = " " * indent
    for kind, text in _blocks(markdown):
        if kind == "code":
            screen.verbatim(text, indent=indent + 2, style="cyan")
        elif kind == "blank":
            screen.blank()
        else:
            label = margin + kind
            screen.line(text, label=label, indent=len(label))


def _blocks(markdown: str) -> list[tuple[str, str]]:
    """(kind, text) pairs: "code", "blank", or a paragraph with its bullet ("" or "- ") as the kind."""
    blocks: list[tuple[str, str]] = []
    fenced = False
    for line in markdown.splitlines():
        bare = line.strip()
        item = _ITEM.match(bare)
        if bare.startswith("```"):
            fenced = not fenced
        elif fenced:
            blocks.append(("code", line or " "))
        elif not bare:
            blocks.append(("blank", ""))
        elif line.startswith("    ") and (not blocks or blocks[-1][0] in ("blank", "code")):
            blocks.append(("code", line[4:]))
        elif item:
            blocks.append((item.group(), bare[item.end() :]))
        elif blocks and blocks[-1][0] not in ("blank", "code"):
            blocks[-1] = (blocks[-1][0], f"{blocks[-1][1]} {bare}")
        else:
            blocks.append(("", bare))
    return blocks
