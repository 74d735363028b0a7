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
# As text, which Python compiles at first use and keeps: most runs have nothing that could be a secret.
_SECRET = rf"(?i){_NAME}$"
_ENVIRONMENT = r"^(?:AWS|AZURE)_[A-Z0-9_]+$"
# An error that says "unknown token: x" gives nothing away, one that says "password: x" does.
_ASSIGNED = rf"(?i)((?:{_NAME}[\"']?\s*=|{_SURE}[\"']?\s*:)\s*[\"']?(?:Bearer\s+|Basic\s+)?){_VALUE}"
_FOLLOWED = rf"(?i)(--?[A-Za-z0-9_.-]*?{_NAME}\s+)([^\s-][^\s]*)"
_BEARER = r"(?i)\b((?:Bearer|Basic)\s+)([\w.~+/=-]{8,})"
_ENVIRONMENT_ASSIGNED = r"\b((?:AWS|AZURE)_[A-Z0-9_]+=)(\S+)"
_USER_IN_URL = r"(?i)(\b[a-z][a-z0-9+.-]*://)([^/\s@:]*:[^/\s@]+|[^/\s@:]{16,})@"
_KNOWN_SHAPES = (
    r"\b(?:sk-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|glpat-[\w-]{16,}|"
    r"xox[abprs]-[\w-]{10,}|A(?:KI|SI)A[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)"
)


def is_secret(name: str) -> bool:
    """Whether an option, a variable or a setting of this name holds a secret."""
    bare = name.strip().lstrip("-+")
    return bool(re.search(_SECRET, bare) or re.match(_ENVIRONMENT, bare))


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
    text = re.sub(_USER_IN_URL, rf"\1{MASK}@", text)
    text = re.sub(_BEARER, rf"\1{MASK}", text)
    text = re.sub(_ENVIRONMENT_ASSIGNED, rf"\1{MASK}", text)
    text = re.sub(_FOLLOWED, rf"\1{MASK}", text)
    text = re.sub(_ASSIGNED, rf"\1{MASK}", text)
    return re.sub(_KNOWN_SHAPES, MASK, text)
