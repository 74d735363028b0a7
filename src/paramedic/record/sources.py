"""Who states which facts: the probes whose failure leaves a kind incomplete, and what only examined calls show."""

from __future__ import annotations

# kind -> the probes behind it, as the watcher calls them
STATED_BY: dict[str, tuple[str, ...]] = {
    "answers_compared": (
        "metrics",
        "ops",
    ),
    "asked": (
        "active",
        "calls",
        "loop",
    ),
    "autocast": ("casts",),
    "average": (
        "averages",
        "calls",
        "loop",
        "ops",
    ),
    "backward": ("backward",),
    "bad_input": (
        "backward",
        "calls",
        "loaders",
    ),
    "bad_labels": ("losses",),
    "bad_parameter": ("alarm",),
    "bad_sample": ("loaders",),
    "batch": ("loaders",),
    "cast": ("casts",),
    "census": ("loop",),
    "chain": (
        "backward",
        "calls",
        "chains",
    ),
    "class_target": (
        "class_targets",
        "losses",
    ),
    "clip": ("clipping",),
    "compile": ("compiles",),
    "confusion": (
        "metrics",
        "ops",
    ),
    "contents": ("loaders",),
    "contract": (
        "calls",
        "contracts",
    ),
    "copy": (
        "calls",
        "followers",
    ),
    "ctc": ("ctc",),
    "cut": (
        "loop",
        "ops",
    ),
    "device_memory": ("memory",),
    "discard": ("loop",),
    "edge": ("alarm",),
    "epoch": ("loaders",),
    "eval_forward": (
        "calls",
        "loop",
    ),
    "exchange": (
        "loop",
        "ranks",
    ),
    "exchanged_transform": ("loaders",),
    "forgotten": (
        "checkpoints",
        "forgotten",
    ),
    "forward": ("calls",),
    "freeze": (
        "freezes",
        "loop",
        "ops",
    ),
    "fed_rows": (
        "calls",
        "fed_rows",
    ),
    "given_target": (
        "calls",
        "given_targets",
        "losses",
    ),
    "hidden": ("loop",),
    "hidden_moved": ("loop",),
    "hoard": (
        "holdings",
        "loop",
        "watcher",
    ),
    "input": (
        "calls",
        "details",
        "inputs",
    ),
    "labels": ("losses",),
    "late_save": ("checkpoints",),
    "load": ("checkpoints",),
    "loader": ("loaders",),
    "loop": ("loop",),
    "loss_call": ("losses",),
    "mask": (
        "calls",
        "masks",
    ),
    "memory": (
        "loop",
        "memory",
    ),
    "memory_peak": ("memory",),
    "mirrors": (
        "calls",
        "losses",
        "mirrors",
    ),
    "mixture": (
        "backward",
        "mixtures",
    ),
    "mode": ("modes",),
    "model": ("loop",),
    "module_call": ("calls",),
    "no_labels": ("losses",),
    "non_finite": (
        "alarm",
        "backward",
    ),
    "offered": (
        "calls",
        "offers",
    ),
    "op": (
        "backward",
        "batch_averages",
        "calls",
        "corners",
        "dropout",
        "losses",
        "metrics",
        "objectives",
        "ops",
        "overwrites",
        "rankings",
        "recurrence",
    ),
    "optimizer": ("loop",),
    "order": (
        "loaders",
        "orders",
    ),
    "out_of_memory": ("memory",),
    "overlap": ("loaders",),
    "overwritten": (
        "checkpoints",
        "loaded",
    ),
    "padding": (
        "calls",
        "losses",
    ),
    "poisoned_step": ("alarm",),
    "pushed": ("objectives",),
    "rates": ("loop",),
    "recompile": (
        "compiles",
        "loop",
    ),
    "repeats": ("loaders",),
    "resumed": (
        "loop",
        "resumes",
    ),
    "retained": (
        "holdings",
        "loop",
    ),
    "samples of gradient": (
        "loop",
        "statistics",
    ),
    "samples of output": (
        "loop",
        "statistics",
    ),
    "samples of update": (
        "loop",
        "statistics",
    ),
    "samples of weight": (
        "loop",
        "statistics",
    ),
    "scaler": ("scaling",),
    "schedule": ("schedulers",),
    "scheduler": ("schedulers",),
    "seed": ("seeds",),
    "selection": ("loaders",),
    "set_back": (
        "averages",
        "checkpoints",
    ),
    "shift": (
        "calls",
        "losses",
        "shifts",
    ),
    "signed_labels": (
        "ops",
        "signed_labels",
    ),
    "slow_step": ("clock",),
    "stale_backward": ("loop",),
    "symmetry": ("loop",),
    "sync": ("transfers",),
    "teacher": (
        "calls",
        "teachers",
    ),
    "terms": (
        "backward",
        "ops",
    ),
    "time": ("clock",),
    "tokens": (
        "calls",
        "masks",
    ),
    "train_forward": (
        "backward",
        "calls",
    ),
    "units": (
        "ops",
        "units",
    ),
    "unreduced": ("ranks",),
    "untied": (
        "loop",
        "ties",
    ),
    "wrapper": ("ranks",),
}

# Hooks on modules and a function mode see these. No compiler may meet either, so they are missing where one is used.
EXAMINED_CALLS = frozenset(
    (
        "answers_compared",
        "asked",
        "average",
        "chain",
        "confusion",
        "contract",
        "copy",
        "cut",
        "eval_forward",
        "fed_rows",
        "forward",
        "freeze",
        "given_target",
        "input",
        "mask",
        "mirrors",
        "module_call",
        "offered",
        "op",
        "padding",
        "shift",
        "signed_labels",
        "teacher",
        "terms",
        "tokens",
        "train_forward",
        "units",
        "samples of output",
    )
)
