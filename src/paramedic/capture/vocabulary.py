"""Token ids as text, where a vocabulary of the program's is known for certain.

Nothing of the program is called for it: tables of Python are looked up as they lie there. Of Hugging Face's fast
tokenizers the compiled object is asked for the token of a number, which is such a table, too: `id_to_token` reads, and
does nothing else. No `decode`, which may be anybody's code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from paramedic.capture.holders import reached
from paramedic.program.untouched import attributes

LONGEST = 40  # characters of a token
Lookup = Callable[[int], Any]


def tokens_of(ids: Sequence[Sequence[int]], sizes: set[int]) -> tuple[str, list[list[str]]] | None:
    """The variable that holds the vocabulary, and the tokens; None where there is none, or where two disagree.

    A table has as many entries as an embedding has rows (`sizes`), or belongs to a tokenizer; and it knows all ids.
    """
    wanted = {number for row in ids for number in row}
    found: dict[tuple[str, ...], str] = {}
    for holder, value in reached():
        lookup = _table(value, sizes) or _tokenizer(value)
        if lookup is None:
            continue
        tokens = [lookup(number) for number in sorted(wanted)]
        if all(isinstance(token, str) for token in tokens):
            found.setdefault(tuple(tokens), holder.path)
    if len(found) != 1:
        return None
    [(tokens_found, path)] = found.items()
    known = {number: token[:LONGEST] for number, token in zip(sorted(wanted), tokens_found, strict=True)}
    return path, [[known[number] for number in row] for row in ids]


def _table(value: Any, sizes: set[int] | None) -> Lookup | None:
    """A list of tokens, a dict from ids to tokens, or one from tokens to ids."""
    kind = type(value)
    if kind not in (list, tuple, dict) or not value or (sizes is not None and len(value) not in sizes):
        return None
    if kind is not dict:
        whole = all(type(item) is str for item in value) and len(set(value)) == len(value)
        return (lambda number: value[number] if 0 <= number < len(value) else None) if whole else None
    [(key, item)] = islice(value.items(), 1)
    if type(key) is int and type(item) is str:
        return value.get
    if type(key) is str and type(item) is int:
        return {number: token for token, number in value.items() if type(number) is int}.get
    return None


def _tokenizer(value: object) -> Lookup | None:
    """A tokenizer of Hugging Face: the compiled one within a fast one, or the table of one written in Python."""
    package = type(value).__module__.partition(".")[0]
    if package not in ("tokenizers", "transformers"):
        return None
    compiled = getattr(sys.modules.get("tokenizers"), "Tokenizer", None)
    own = attributes(value)
    inner: Any = value if type(value) is compiled else own.get("_tokenizer")
    if compiled is not None and type(inner) is compiled:
        return inner.id_to_token
    return next((found for name in ("encoder", "vocab") if (found := _table(own.get(name), None)) is not None), None)
