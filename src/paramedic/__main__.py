"""The `paramedic` command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from paramedic.errors import ParamedicError

from paramedic import shelf, voice


def main() -> None:
    with shelf.ours():
        from paramedic.cli.commands import build
        from paramedic.errors import ParamedicError

        try:
            build(sys.argv[1:])(prog_name="paramedic")
        except ParamedicError as error:
            _refuse(error)
        except OSError as error:  # of our own making: what a script raises stays in launch.py
            where = f"{error.filename!r}: " if error.filename is not None else ""
            _refuse(
                ParamedicError(
                    f"{where}{error.strerror or error}",
                    expected="files and folders that can be read and written",
                    fix="another path, or look at its permissions and at the space left",
                )
            )


def _refuse(error: ParamedicError) -> NoReturn:
    """Names in it may come from a file that somebody else wrote: no control code of theirs reaches the terminal."""
    from paramedic.reports.screen import clean, speaks_unicode

    voice.say(clean(str(error), unicode=speaks_unicode(sys.stderr)))
    sys.exit(2)


if __name__ == "__main__":
    main()
