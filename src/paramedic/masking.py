"""Secrets on a command line: what looks like one is never written down, in whatever file of ours."""

from __future__ import annotations

import re
from collections.abc import Sequence

MASK = "***"

# Names of options, variables and settings whose values are nobody's business. The word must end the name, so that
# --token-dim and --num-tokens stay what they are; so do the special tokens of a vocabulary.
_SURE = (
    r"(?<![A-Za-z0-9])(?:[a-z]*api[-_]?key|access[-_]?key(?:[-_]?id)?|private[-_]?key|account[-_]?key|secret[-_]?key|"
    r"[a-z]*secret|[a-z]*password|[a-z]*passwd|[a-z]*passphrase|pwd|credentials?|authorization)"
)
_TOKEN = (
    r"(?<![A-Za-z0-9])(?<!pad[-_])(?<!mask[-_])(?<!bos[-_])(?<!eos[-_])(?<!unk[-_])(?<!sep[-_])(?<!cls[-_])[a-z]*token"
)
_NAME = f"(?:{_SURE}|{_TOKEN})"
_VALUE = r"([^\s\"',;&]+)"
_SECRET = re.compile(rf"{_NAME}$", re.IGNORECASE)
_ENVIRONMENT = re.compile(r"^(?:AWS|AZURE)_[A-Z0-9_]+$")
# An error that says "unknown token: x" gives nothing away, one that says "password: x" does.
_ASSIGNED = re.compile(
    rf"((?:{_NAME}[\"']?\s*=|{_SURE}[\"']?\s*:)\s*[\"']?(?:Bearer\s+|Basic\s+)?){_VALUE}", re.IGNORECASE
)
_FOLLOWED = re.compile(rf"(--?[A-Za-z0-9_.-]*?{_NAME}\s+)([^\s-][^\s]*)", re.IGNORECASE)
_BEARER = re.compile(r"\b((?:Bearer|Basic)\s+)([\w.~+/=-]{8,})", re.IGNORECASE)
_ENVIRONMENT_ASSIGNED = re.compile(r"\b((?:AWS|AZURE)_[A-Z0-9_]+=)(\S+)")
_USER_IN_URL = re.compile(r"(\b[a-z][a-z0-9+.-]*://)([^/\s@:]*:[^/\s@]+|[^/\s@:]{16,})@", re.IGNORECASE)
_KNOWN_SHAPES = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|glpat-[\w-]{16,}|"
    r"xox[abprs]-[\w-]{10,}|A(?:KI|SI)A[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)"
)


def is_secret(name: str) -> bool:
    """Whether an option, a variable or a setting of this name holds a secret."""
    bare = name.strip().lstrip("-+")
    return bool(_SECRET.search(bare) or _ENVIRONMENT.match(bare))


def masked_words(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a command line, `***` in place of every secret."""
    found: list[str] = []
    value_of_secret = False
    for word in words:
        name, equals, _ = word.partition("=")
        if value_of_secret and not word.startswith("--"):
            found.append(MASK)
        elif equals and is_secret(name) and " " not in name:
            found.append(f"{name}={MASK}")
        else:
            found.append(masked_text(word))
        value_of_secret = not equals and word.startswith("-") and is_secret(word)
    return tuple(found)


def masked_text(text: str) -> str:
    """Any text in which a command line, a setting or an address may be quoted."""
    text = _USER_IN_URL.sub(rf"\1{MASK}@", text)
    text = _BEARER.sub(rf"\1{MASK}", text)
    text = _ENVIRONMENT_ASSIGNED.sub(rf"\1{MASK}", text)
    text = _FOLLOWED.sub(rf"\1{MASK}", text)
    text = _ASSIGNED.sub(rf"\1{MASK}", text)
    return _KNOWN_SHAPES.sub(MASK, text)
