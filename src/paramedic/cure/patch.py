"""Two versions of a file as a unified diff that `git apply` and `patch -p1` take, byte for byte."""

from __future__ import annotations

import difflib

NO_NEWLINE = b"\\ No newline at end of file\n"


def unified(file: str, old: bytes, new: bytes, context: int = 3) -> bytes:
    """Empty where nothing differs."""
    lines = difflib.diff_bytes(
        difflib.unified_diff, _lines(old), _lines(new), f"a/{file}".encode(), f"b/{file}".encode(), n=context
    )
    return b"".join(line if line.endswith(b"\n") else line + b"\n" + NO_NEWLINE for line in lines)


def _lines(data: bytes) -> list[bytes]:
    """Only \\n ends a line of a patch; what splitlines() takes for an end as well stays where it is."""
    parts = data.split(b"\n")
    return [*(part + b"\n" for part in parts[:-1]), *([parts[-1]] if parts[-1] else [])]
