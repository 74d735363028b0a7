"""The text that follows a traceback: places with their values, then labelled lines, all inside 80 columns."""

from __future__ import annotations

import shutil
import sys
import textwrap

from paramedic.postmortem.frames import Spot, Value
from paramedic.postmortem.summarize import brief
from paramedic.reports.screen import speaks_unicode

MOST_LINES = 3  # of one value
_PLAIN = str.maketrans({"·": "|", "…": "..", "±": "+-", "→": "->", "≈": "~", "×": "x"})


class Page:
    """Collects what there is to say; `render` gives nothing when there is nothing."""

    def __init__(self) -> None:
        self.width = (
            min(shutil.get_terminal_size((80, 24)).columns, 100)
            if sys.stderr is not None and sys.stderr.isatty()
            else 80
        )
        self._blocks: list[str] = []
        self._labelled: dict[str, list[str]] = {}
        self._shown: set[tuple[str, int]] = set()

    def spots(self, spots: list[Spot], *, title: str = "", again: bool = False) -> None:
        """Places with their values; a place that was shown is passed over, unless it is to be shown `again`."""
        lines = []
        for spot in spots:
            if again or (spot.file, spot.line) not in self._shown:
                self._shown.add((spot.file, spot.line))
                lines += self._spot(spot)
        if lines:
            self._blocks.append("\n".join([f"  {title}", *lines] if title else lines))

    def text(self, lines: list[str]) -> None:
        """Lines that were already laid out, in another process."""
        if lines:
            self._blocks.append("\n".join(lines))

    def label(self, name: str, text: str) -> None:
        said = self._labelled.setdefault(name, [])
        if text not in said:
            said.append(text)

    def render(self, who: str, ending: str = "failed") -> str:
        labelled = [self._wrap(f"  {name:<9}", text) for name, texts in self._labelled.items() for text in texts]
        if not self._blocks and not labelled:
            return ""
        body = "\n\n".join([*self._blocks, *(["\n".join(labelled)] if labelled else [])])
        title = f"the values where {who} {ending}" if self._blocks else f"where {who} {ending}"
        text = f"\nparamedic: {title}\n{body}\n"
        return text if speaks_unicode(sys.stderr) else text.translate(_PLAIN)

    def body(self) -> list[str]:
        """The places only, as lines, for another process to print."""
        return "\n\n".join(self._blocks).splitlines()

    def _spot(self, spot: Spot) -> list[str]:
        again = f"  (and {spot.repeats - 1:,} times before)" if spot.repeats > 1 else ""
        again += "  (values as they were later)" if spot.later and spot.values else ""
        lines = [f"  {spot.file}:{spot.line} in {spot.function}{again}"]
        lines.append("    " + _cut(spot.text, self.width - 4))
        longest = min(max((len(value.name) for value in spot.values), default=0), 24)
        return [*lines, *(self._value(value, longest) for value in spot.values)]

    def _value(self, value: Value, longest: int) -> str:
        name = _cut(value.name, 40)
        text = f"— {value.missing}" if value.missing is not None else brief(value.value)
        return self._wrap(f"      {name:<{longest}}  ", text, most=MOST_LINES)

    def _wrap(self, head: str, text: str, most: int = 6) -> str:
        indent = min(len(head), 32)
        text = text.replace("\n", " ").replace(" · ", " ·\N{NO-BREAK SPACE}")  # a line ends before the dot
        lines = textwrap.wrap(
            text, self.width, initial_indent=head, subsequent_indent=" " * indent, max_lines=most,
            placeholder=" …", break_on_hyphens=False,
        )  # fmt: skip
        return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ") or head.rstrip()


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
