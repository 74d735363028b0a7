"""Words on a terminal: cleaned of control codes, wrapped with a hanging indent, coloured on request."""

from __future__ import annotations

import os
import unicodedata
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.text import Text

Span = str | tuple[str, str]  # words, or words with a rich style

NARROWEST = 24
LONGEST_QUOTE = 1_000  # characters
_LINKING_PROGRAMS = {"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio"}
_LINKING_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour")
_LINKING_SIGNS = ("KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM")
_ASCII = str.maketrans(
    {
        "✗": "x", "▲": "!", "█": "#", "•": "-", "·": "-", "│": "|", "×": "x", "–": "-", "—": "-", "…": "...", "≥": ">=",
        "≤": "<=", "±": "+/-", "→": "->", "≈": "~", "‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " ",
        "\u202f": " ", "−": "-", "∞": "inf", "✓": "v", "▁": "_", "▂": ".", "▃": "-", "▄": "=", "▅": "+", "▆": "*",
        "▇": "%",
    }
)  # fmt: skip


def speaks_unicode(stream: TextIO) -> bool:
    """Whether the marks and separators of our messages survive this stream's encoding."""
    try:
        "✗▲•·│".encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def wants_color(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def knows_links(stream: TextIO) -> bool:
    """Whether this terminal opens links (OSC 8). Others may print the address, so only known ones get them."""
    wish = os.environ.get("FORCE_HYPERLINK")
    if wish is not None:
        return wish not in ("", "0")
    if not stream.isatty() or os.environ.get("TERM") == "dumb" or os.environ.get("CI"):
        return False
    vte = os.environ.get("VTE_VERSION", "0")
    known = os.environ.get("TERM_PROGRAM") in _LINKING_PROGRAMS or os.environ.get("TERM", "").startswith(_LINKING_TERMS)
    return known or any(name in os.environ for name in _LINKING_SIGNS) or (vte.isdigit() and int(vte) >= 5000)


def clean(words: str, *, unicode: bool = True) -> str:
    """The words without what would move the cursor or change colours: names in a record may hold anything."""
    words = words.replace("\r\n", "\n").expandtabs(4)
    if not unicode:
        return "".join(c if c == "\n" or c.isprintable() else "?" for c in _to_ascii(words))
    return "".join(c if c == "\n" or c.isprintable() or unicodedata.category(c) == "Zs" else "�" for c in words)


def _to_ascii(words: str) -> str:
    return words.translate(_ASCII).encode("ascii", "replace").decode()


class Screen:
    """Collects lines for a terminal of a given width."""

    def __init__(self, *, width: int = 80, color: bool = False, unicode: bool = True, links: bool = False) -> None:
        from rich.console import Console

        self.width = max(width, NARROWEST)
        self._unicode = unicode
        self._links = links and color  # rich writes none where it writes no colours
        self._file = StringIO()
        # An empty environment: the caller has decided about width and colour, NO_COLOR and COLUMNS included.
        self._console = Console(
            file=self._file,
            width=self.width,
            force_terminal=color,
            color_system="standard" if color else None,
            force_jupyter=False,
            legacy_windows=False,
            _environ={},
        )

    def line(self, *body: Span, label: Span | list[Span] = "", indent: int = 0, right: str = "") -> None:
        """One item: the label, then the body, wrapped with every further line `indent` columns in."""
        label_text = self._text(*(label if isinstance(label, list) else [label]))
        label_text.pad_right(indent - label_text.cell_len)
        body_text = self._text(*body)
        room = self.width - label_text.cell_len - body_text.cell_len
        right_text = self._text((right, "dim")) if right else None
        if right_text and room >= right_text.cell_len + 2:
            body_text.append(" " * (room - right_text.cell_len)).append_text(right_text)
            right_text = None
        for number, part in enumerate(body_text.wrap(self._console, self.width - indent)):
            part.rstrip()
            self._write((label_text if number == 0 else self._text(" " * indent)) + part)
        if right_text:
            self._write(self._text(" " * indent) + right_text)

    def link(self, file: str | None, line: int | None = None) -> str:
        """The style that makes words a link to this line, where the terminal knows links; programs that only know files
        ignore what stands behind "#"."""
        if not self._links or not file or not os.path.isfile(file):
            return ""
        return f"link {Path(file).absolute().as_uri()}" + (f"#{line}" if line else "")

    def command(self, prefix: str, words: str) -> None:
        """A command to paste: on a line of its own where it would have to be broken, and never broken."""
        if len(prefix) + 1 + len(words) <= self.width:
            self.verbatim(f"{prefix} {words}", indent=0)
        else:
            self.line(prefix)
            self.verbatim(words, indent=2)

    def verbatim(self, words: str, *, indent: int, style: str = "") -> None:
        """Code and tracebacks: never wrapped or cut, because people copy them."""
        for row in words.splitlines():
            self._write(self._text(" " * indent, (row, style)))

    def quote(self, words: str, *, indent: int, style: str = "") -> None:
        """A line of the user's own file: whole, on as many rows as it takes, unless it is absurdly long."""
        words = words if len(words) <= LONGEST_QUOTE else words[: LONGEST_QUOTE - 1] + "…"
        for part in self._text((words, style)).wrap(self._console, self.width - indent - 2):
            self._write(self._text(" " * indent, ("│ ", "dim")) + part)

    def blank(self) -> None:
        self._file.write("\n")

    def __str__(self) -> str:
        return self._file.getvalue()

    def _text(self, *spans: Span) -> Text:
        from rich.text import Text

        styled = [(span, "") if isinstance(span, str) else span for span in spans]
        return Text.assemble(*((clean(words, unicode=self._unicode), style) for words, style in styled))

    def _write(self, text: Text) -> None:
        text.rstrip()
        self._console.print(text, soft_wrap=True)
