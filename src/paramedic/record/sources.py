"""Who states which facts, where that is a source and not a probe, whose decorator says it.

By the names that the watcher calls them: a kind of fact is incomplete once one of them has failed.
"""

from __future__ import annotations

STATED_BY: dict[str, tuple[str, ...]] = {
    "average_of_averages": ("batch_averages",),
    "backward": ("backward",),
    "bad_input": ("backward", "module_calls", "data_loaders"),
    "bad_labels": ("losses",),
    "bad_parameter": ("alarm",),
    "bad_sample": ("data_loaders", "workers"),
    "batch": ("data_loaders",),
    "broadcast": ("backward", "ops"),
    "bundle": ("alarm",),
    "constant_term": ("backward", "ops"),
    "contents": ("data_loaders",),
    "counter_not_reset": ("tallies",),
    "cut": ("loop", "ops"),
    "discard": ("loop",),
    "edge": ("alarm",),
    "epoch": ("data_loaders",),
    "eval_forward": ("module_calls", "loop"),
    "flat": ("backward", "ops"),
    "forward": ("module_calls",),
    "hidden": ("loop", "modules"),
    "hidden_moved": ("loop", "modules"),
    "kl_div": ("losses",),
    "labels": ("losses",),
    "late_save": ("checkpoints",),
    "load": ("checkpoints",),
    "loader": ("data_loaders",),
    "loop": ("loop",),
    "loss_call": ("losses",),
    "model": ("loop", "modules"),
    "module_call": ("module_calls",),
    "no_labels": ("losses",),
    "non_finite": ("alarm", "backward"),
    "optimizer": ("loop",),
    "overlap": ("data_loaders",),
    "padding": ("module_calls", "losses"),
    "points of eval_loss": ("losses",),
    "points of gradient_norm": ("loop", "statistics"),
    "points of loss": ("backward", "skipping"),
    "points of lr": ("loop",),
    "points of memory": ("memory",),
    "points of norm_before_clip": ("clipping",),
    "points of skipped_at_scale": ("scaling",),
    "points of time": ("clock",),
    "poisoned_step": ("alarm",),
    "rates": ("loop",),
    "repeats": ("data_loaders",),
    "replay": ("replay",),
    "sample": ("clock", "sampler"),
    "samples of gradient": ("loop", "statistics"),
    "samples of output": ("loop", "statistics"),
    "samples of update": ("loop", "statistics"),
    "samples of weight": ("loop", "statistics"),
    "scaler": ("scaling",),
    "seed": ("seeds",),
    "slow_step": ("clock",),
    "softmax": ("backward", "ops"),
    "stale_backward": ("loop",),
    "step": ("loop",),
    "terms": ("backward", "ops"),
    "train_forward": ("backward", "module_calls"),
    "units": ("ops",),
    "wrong_denominator": ("tallies",),
}

# What a run's numbers over time are called, up to the colon of "loss:train.py:41".
SERIES = frozenset(name.removeprefix("points of ") for name in STATED_BY if name.startswith("points of "))

# Hooks on modules and a function mode see these. No compiler may meet either, so they are missing where one is used.
# The kinds of probes that listen to nothing else are written into the record itself.
EXAMINED_CALLS = frozenset((
    "average", "broadcast", "corners", "crossed_rows", "cut", "cutting_view", "clipped_surrogate", "divergence",
    "dropout", "entropy", "eval_forward", "flat", "forward", "given_target", "kl_div", "log_prob",
    "loss_of_earlier_steps", "mirrors", "module_call", "normalised_across_samples", "padding", "quotient",
    "samples of output", "scrambling_view", "shift", "softmax", "terms", "train_forward", "units",
))  # fmt: skip
