"""`paramedic doctor`: what paramedic finds on this machine, and what of torch and Python it would replace in a run."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

EXTRAS = {
    "datasets": "audit", "libcst": "cure", "starlette": "live", "uvicorn": "live", "mcp": "mcp", "onnx": "parity",
    "onnxruntime": "parity", "keras": "parity", "safetensors": "parity", "ray": "ray", "tensorboard": "tensorboard",
}  # fmt: skip


def add_to(app: typer.Typer) -> None:
    app.command("doctor", rich_help_panel="Any time")(doctor)


def doctor(
    patches: Annotated[bool, typer.Option("--patches", help="List every function that a run replaces.")] = False,
) -> None:
    """Show versions, optional packages and settings, and what a run replaces in torch.

    Example:

      paramedic doctor --patches
    """
    from paramedic import __version__
    from paramedic.capture.environment import environment
    from paramedic.config import load_config

    replaced, versions = _replaced(), environment()["versions"]
    print(f"paramedic {__version__}, Python {versions['python']}, torch {versions['torch']}")
    print(f"Processes can be forked: {'yes' if hasattr(os, 'fork') else 'no, so the model is asked fewer questions'}")
    print(f"Settings: {load_config().source}")
    for package, extra in EXTRAS.items():
        missing = importlib.util.find_spec(package) is None
        state = f"not installed (pip install 'paramedic[{extra}]')" if missing else "installed"
        print(f"{package}: {state}")
    print(f"A run replaces {len(replaced)} functions while it lasts{':' if patches else ' (--patches)'}")
    for name in replaced if patches else ():
        print(f"  {name}")


def _replaced() -> list[str]:
    """Attach to this very process for a moment, and look."""
    from paramedic import patching
    from paramedic.capture.attach import attach
    from paramedic.postmortem import children, tracebacks
    from paramedic.settings import Settings

    with tempfile.TemporaryDirectory() as folder:
        attachment = attach(Path(folder), name="main", meta={}, settings=Settings(), eager=False)
        try:
            children.install()
            tracebacks.offer(main=False)
            return patching.standing()
        finally:
            attachment.finish()
