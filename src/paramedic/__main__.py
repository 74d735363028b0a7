"""The `paramedic` command."""

from __future__ import annotations

import sys

from paramedic import shelf, voice


def main() -> None:
    with shelf.ours():
        from paramedic.cli.app import app
        from paramedic.errors import ParamedicError

        try:
            app(prog_name="paramedic")
        except ParamedicError as error:
            voice.say(str(error))
            sys.exit(2)


if __name__ == "__main__":
    main()
