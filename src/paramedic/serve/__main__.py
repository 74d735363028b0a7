"""The server beside a run: started by `paramedic run --live`, see server.beside()."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from paramedic.config import load_config, rule_options
from paramedic.rules.catalogue import select as select_rules
from paramedic.serve.app import Site
from paramedic.serve.listing import Listing
from paramedic.serve.server import serve


def main(runs: str, run: str, token: str, descriptor: str, process: str, chosen: str, ignored: str) -> None:
    os.nice(10)  # the training goes first
    config = load_config()
    rules = select_rules(
        chosen=tuple(filter(None, chosen.split(","))) or config.select,
        ignored=tuple(filter(None, ignored.split(","))) or config.ignore,
    )
    site = Site(Listing(Path(runs), [Path(runs, run)]), rules, rule_options(config))
    serve(site, socket.socket(fileno=int(descriptor)), token, until=int(process))


if __name__ == "__main__":
    main(*sys.argv[1:])
