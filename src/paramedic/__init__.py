"""paramedic: a doctor for PyTorch training."""

from paramedic.errors import ParamedicError
from paramedic.watching import Watch, watch

__all__ = ["ParamedicError", "Watch", "watch"]
__version__ = "0.1.0"
