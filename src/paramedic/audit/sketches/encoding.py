"""Texts that were read in another encoding than they were written in."""

from __future__ import annotations

import re

# How bytes 0x80 to 0xBF look in Latin-1, and in Windows-1252, which has printable letters for some of them.
_TAIL = "\x80-\xbf" + bytes(b for b in range(0x80, 0xA0) if b not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)).decode("cp1252")
_SUSPECT = re.compile(f"[\xc2-\xf4][{_TAIL}]{{1,3}}")
_LOST = "\ufffd"  # what decoders put where they found no letter


def damage(text: str) -> str:
    """The first letters that show it, such as 'Ã©' for 'é'; nothing where the text is whole."""
    if text.isascii():
        return ""
    if _LOST in text:
        return _LOST
    return next((found.group() for found in _SUSPECT.finditer(text) if _was_utf8(found.group())), "")


def _was_utf8(letters: str) -> bool:
    """Whether the bytes that these letters stand for begin with one letter in UTF-8: by chance they hardly ever do."""
    data = b"".join(_byte(letter) for letter in letters)
    width = 2 if data[0] < 0xE0 else 3 if data[0] < 0xF0 else 4
    try:
        return len(data[:width].decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False


def _byte(letter: str) -> bytes:
    return bytes([ord(letter)]) if ord(letter) < 256 else letter.encode("cp1252")
