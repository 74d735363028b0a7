"""`paramedic.setup_logging()`: Python's own logging, set up in one call as a training script needs it."""

from __future__ import annotations

import json
import logging
import os
import platform
import sys
from pathlib import Path
from typing import Any

from paramedic.settings import LOGGING_VARIABLE

_NAMES = ("paramedic-console", "paramedic-file")
_log = logging.getLogger("paramedic")


def setup_logging(*models: Any, file: str | os.PathLike[str] | None = None, level: int | str = logging.INFO) -> None:
    """Log to stderr, and to a file if one is given, with timestamps and module names.

    Tells the environment at once: versions, device, seed. Tells the parameters of each model, by name, shape and count:
    of the models given here, and under `paramedic run` or `paramedic.watch` of every model at its first optimizer step.
    Calling it again replaces the handlers of the last call, and only those. Processes that are started afterwards log
    to the same places.
    """
    path = None if file is None else os.path.abspath(file)
    _install_handlers(path, level)
    os.environ[LOGGING_VARIABLE] = json.dumps({"file": path, "level": level})
    _log.info("environment: %s", ", ".join(f"{name} {value}" for name, value in environment().items()))
    for model in models:
        _log_parameters(type(model).__name__, model)


def setup_child() -> None:
    """In a process whose parent called `setup_logging`: the same handlers, without telling everything again."""
    try:
        order = json.loads(os.environ[LOGGING_VARIABLE])
        _install_handlers(order["file"], order["level"])
    except (KeyError, ValueError, OSError):
        return


def model_seen(name: str, model: Any) -> None:
    """The watcher has met a model: log it, if logging was set up."""
    if any(handler.name in _NAMES for handler in logging.getLogger().handlers):
        _log_parameters(name, model)


def _log_parameters(name: str, model: Any) -> None:
    """One line per parameter, then the total."""
    total = trainable = 0
    for path, parameter in model.named_parameters():
        shape, count = "×".join(map(str, parameter.shape)) or "scalar", parameter.numel()
        _log.info("%s: %s %s, %s%s", name, path, shape, f"{count:,}", "" if parameter.requires_grad else ", frozen")
        total += count
        trainable += count if parameter.requires_grad else 0
    _log.info("%s: %s parameters in total, %s of them trainable", name, f"{total:,}", f"{trainable:,}")


def environment() -> dict[str, str]:
    """What a reader of the log asks first."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    torch = sys.modules.get("torch")
    if torch is not None:
        cuda = torch.cuda.is_available()
        found["torch"] = str(torch.__version__)
        found["device"] = torch.cuda.get_device_name() if cuda else f"cpu with {torch.get_num_threads()} threads"
        found["seed"] = str(torch.initial_seed())
    if "RANK" in os.environ:
        found["rank"] = f"{os.environ['RANK']} of {os.environ.get('WORLD_SIZE', '?')}"
    return found


def _install_handlers(file: str | None, level: int | str) -> None:
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if handler.name in _NAMES]:
        root.removeHandler(handler)
        handler.close()
    handlers: list[logging.Handler] = [logging.StreamHandler()]
    if file is not None:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(file, encoding="utf-8"))  # appends: children write to the same file
    rank = f" rank {os.environ['RANK']}" if "RANK" in os.environ else ""
    for name, handler in zip(_NAMES, handlers, strict=False):
        handler.set_name(name)
        handler.setFormatter(logging.Formatter(f"%(asctime)s %(levelname)s %(name)s{rank} %(message)s"))
        root.addHandler(handler)
    root.setLevel(level)
