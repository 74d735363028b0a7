"""The process and the machine that a run is on."""

from __future__ import annotations

import os
import platform

import torch

from paramedic.aliases import Fields


def environment() -> Fields:
    """What a reader needs to know about the machine; never the environment's variables themselves."""
    return {
        "pid": os.getpid(),
        "rank": int(os.environ.get("RANK", 0) or 0),
        "world_size": int(os.environ.get("WORLD_SIZE", 1) or 1),
        "versions": {
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "platform": "-".join(
                (platform.system(), platform.release(), platform.machine())
            ),  # platform() starts a process
            "accelerator": torch.cuda.get_device_name(0) if torch.cuda.is_initialized() else "none",
        },
    }
