"""`paramedic serve`: the live page of running and finished runs."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote, urlencode

import typer

from paramedic import voice
from paramedic.cli.options import Ignore, Runs, Select, words
from paramedic.cli.report import find_run
from paramedic.config import load_config, rule_options, runs_folder
from paramedic.rules.catalogue import select as select_rules

Names = Annotated[list[str] | None, typer.Argument(metavar="RUN", help="Ids or folders; several are drawn together.")]
Port = Annotated[
    int,
    typer.Option(min=0, max=65535, metavar="N", show_default=False, help="Port on this machine (default: a free one)."),
]


def add_to(app: typer.Typer) -> None:
    app.command("serve", rich_help_panel="During training")(serve)


def serve(names: Names = None, port: Port = 0, runs: Runs = None, select: Select = None, ignore: Ignore = None) -> None:
    """Show runs on a local page that keeps up with them. Ctrl-C ends it.

    Only this machine can open the page, with the token in its address. Nothing can be changed through it.

    Examples:

      paramedic serve

      paramedic serve 20260301-101500 20260301-113000
    """
    from paramedic.serve import server

    server.check_installed()
    from paramedic.serve.app import Site
    from paramedic.serve.listing import Listing

    config = load_config()
    rules = select_rules(chosen=words(select) or config.select, ignored=words(ignore) or config.ignore)
    folders = [find_run(name, config, runs).resolve() for name in names or ()]
    page = f"run/{quote(folders[0].name)}/" if len(folders) == 1 else ""
    if len(folders) > 1:
        page = f"compare/?{urlencode([('run', folder.name) for folder in folders])}"
    site = Site(Listing(runs_folder(config, runs), folders), rules, rule_options(config))
    token = server.new_token()
    with server.listen(port) as sock:
        voice.say(f"paramedic: serving {server.address(sock, token, page)}  (Ctrl-C ends it)")
        server.serve(site, sock, token)
