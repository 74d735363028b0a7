"""paramedic: a doctor for PyTorch training."""

from paramedic.errors import ParamedicError
from paramedic.logbook import setup_logging
from paramedic.watching import Watch, watch

__all__ = ["ParamedicError", "Watch", "setup_logging", "watch"]
__version__ = "0.1.0"
