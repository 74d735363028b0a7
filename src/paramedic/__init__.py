"""paramedic: a doctor for PyTorch training."""

from paramedic import shelf

if (_folder := shelf.first_on_path()) is not None:
    shelf.know(_folder)
with shelf.ours():
    from paramedic import shapes, synth, testing
    from paramedic.audit import subset  # before the function of that name: an import would put the package there
    from paramedic.auditing import audit
    from paramedic.comparing import compare, copy_weights
    from paramedic.errors import ParamedicError
    from paramedic.journal.notes import assume, note
    from paramedic.logbook import setup_logging
    from paramedic.logged import log
    from paramedic.postmortem.shell import shell
    from paramedic.postmortem.summarize import summarize
    from paramedic.postmortem.tracebacks import install
    from paramedic.watching import Watch, watch


def load_ipython_extension(shell: object) -> None:
    """`%load_ext paramedic` calls this."""
    from paramedic.integrations.ipython import load

    load(shell)


__all__ = [
    "ParamedicError",
    "Watch",
    "assume",
    "audit",
    "compare",
    "copy_weights",
    "install",
    "log",
    "note",
    "setup_logging",
    "shapes",
    "shell",
    "subset",
    "summarize",
    "synth",
    "testing",
    "watch",
]
__version__ = "0.1.0"
