"""The shape of a record: its tables and the kinds of facts it holds.

A fact that happens once per step would fill the disk, so facts carry a key: the first occurrence stores the details,
later ones only raise `count` and `last_step`. Facts without a key are stored each time, and their probe limits them.

Every row ends in a checksum of what stands before it: a report must never be about a bit that a disk has lost.

Statistics of tensors are packed, one row per step and role (see samples.py).

Values are JSON, written by Python's json module: NaN and the infinities survive (SQLite itself turns NaN into null).
"""

from __future__ import annotations

SCHEMA_VERSION = 4

TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  time REAL NOT NULL,
  step INTEGER NOT NULL,
  last_step INTEGER NOT NULL,
  count INTEGER NOT NULL,
  phase TEXT NOT NULL,
  file TEXT, line INTEGER, function TEXT,
  module TEXT,
  data TEXT NOT NULL,
  crc INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS events_by_kind ON events (kind, id);
CREATE TABLE IF NOT EXISTS points (
  series TEXT NOT NULL, step INTEGER NOT NULL, value TEXT NOT NULL, crc INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS points_by_series ON points (series);
CREATE TABLE IF NOT EXISTS names (id INTEGER PRIMARY KEY, names TEXT NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS samples (
  step INTEGER NOT NULL, role TEXT NOT NULL, names INTEGER NOT NULL, rows BLOB NOT NULL,
  crc INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS samples_by_step ON samples (step);
"""

# kind -> (what it says, what a rule that lacks it tells the user)
KINDS: dict[str, tuple[str, str]] = {
    "model": ("a module tree with its parameters and buffers", "no nn.Module with parameters was seen"),
    "optimizer": ("an optimizer, its groups and whose parameters they hold", "no optimizer took a step"),
    "census": ("per parameter: trainable, held, got gradient, moved", "no optimizer step was examined"),
    "forward": ("a call of a top-level module", "no nn.Module was called"),
    "train_forward": ("a call whose output was back-propagated", "no forward pass led to a backward()"),
    "eval_forward": ("a call whose output was only measured", "no evaluation was seen"),
    "input": ("the scale of what reaches a model's first layer", "no Linear or convolution got data directly"),
    "module_call": ("a sub-module's first examined call", "no nn.Module was called"),
    "offered": ("a part of a module that makes an answer beside others", "no module gave several answers"),
    "contract": ("a declared shape that a call did not keep", "no declared shape was broken"),
    "chain": ("an affine layer that got another one's output as it was", "no two affine layers follow each other"),
    "loss_call": ("a call of a loss function of torch", "no loss function of torch was called"),
    "pushed": ("the value of a loss function, and which way it is pushed", "no loss function of torch was trained on"),
    "backward": ("a backward() call", "backward() was never called"),
    "step": ("an optimizer step", "no optimizer took a step"),
    "rates": ("the highest learning rate of each parameter group", "the run has not ended"),
    "loop": ("one kind of cycle of the training loop, in call order", "no optimizer took a step"),
    "stale_backward": ("whether a step used gradients added to ones already used", "backward() was never called"),
    "clip": ("a gradient clipping call", "gradients are not clipped"),
    "scaler": ("a GradScaler call", "no GradScaler is used"),
    "scheduler": ("a learning-rate scheduler's step", "no learning-rate scheduler is used"),
    "schedule": (
        "a learning-rate scheduler: its horizon and how often it stepped",
        "no scheduler is used, or the run has not ended",
    ),
    "cast": ("a model converted to another floating-point type", "no model was converted"),
    "autocast": ("a part of the training that computes in half precision", "autocast is not used"),
    "symmetry": ("weights whose rows were all alike, and whether they stay so", "no optimizer step was examined"),
    "units": ("how many units of an activation fired, or were pinned", "no activation function was seen"),
    "terms": ("the values that were added up to a loss", "no sum of losses was examined"),
    "discard": ("gradients cleared before any step used them", "backward() was never called"),
    "loader": ("a DataLoader and how it samples", "no DataLoader is used"),
    "batch": ("a batch from a DataLoader", "no DataLoader is used"),
    "bad_input": ("NaN or infinity in a batch or in a model's input", "all batches were finite"),
    "non_finite": ("a loss or gradient that is not finite, and the operation it came from", "all were finite"),
    "poisoned_step": ("an optimizer step with gradients that are not finite", "all gradients used were finite"),
    "edge": ("a jump of the gradient caused by an operation near its singularity", "no gradient jumped"),
    "bundle": (
        "a step that was kept because its loss or gradient stood out",
        "no bundle was requested (--bundle-spikes)",
    ),
    "bad_parameter": ("weights that turned non-finite in a step with finite gradients", "all weights were finite"),
    "replay": ("a bundle's step that was run again", "no bundle was replayed"),
    "exchanged_transform": ("a transform put into a dataset after it was split", "no transform was exchanged"),
    "confusion": ("which class an evaluation answered for which label", "no answers were compared with class labels"),
    "repeats": ("samples of a stream that came from several workers", "no stream was read by several workers"),
    "order": (
        "a pass over a loader that shuffles: which samples came first, and what its sampler takes for the epoch",
        "no loader that shuffles was seen",
    ),
    "selection": ("which part of a dataset a loader reads, for other ranks", "no part of a dataset was chosen"),
    "contents": ("the samples that a loader gave, for other ranks", "no samples of several ranks were seen"),
    "overlap": ("samples that two loaders have both given", "no two loaders were compared"),
    "fed_rows": ("rows evaluated without a loader that were trained on", "no such rows were seen"),
    "bad_sample": ("a sample that could not be loaded", "every sample could be loaded"),
    "labels": ("class labels as the loss saw them, batch by batch", "no class labels were seen"),
    "signed_labels": ("labels of a loss that wants +1 and -1", "no loss with labels of +1 and -1 is used"),
    "bad_labels": ("class labels that the loss cannot accept", "all labels were in range"),
    "padding": ("labels that end in padding where the inputs do", "no padded sequences were seen"),
    "asked": ("the outputs of a copy of the model for changed batches", "no copy of the model was probed"),
    "shift": ("how many places labels lie behind the token ids", "no labels were compared with token ids"),
    "mirrors": ("whether image targets match as they are, or mirrored", "no target is a picture"),
    "given_target": ("whether a target stands among the inputs", "no target with one number per sample was seen"),
    "tokens": ("how the rows of a batch of token ids end", "no token ids were seen"),
    "ctc": ("a CTC loss: the lengths of inputs and targets", "no CTC loss is used"),
    "mask": ("a padding mask beside the token ids it belongs to", "no padding mask was seen with its token ids"),
    "no_labels": ("a batch without a single label that counts", "every batch had labels"),
    "op": ("a notable call: softmax, dropout, a broadcast", "no call was examined"),
    "cut": ("a call that ends the gradient's path", "no call was examined"),
    "hidden": ("modules or parameters reachable from a model but not registered", "no nn.Module was seen"),
    "hidden_moved": ("hidden tensors that the program itself has changed", "no hidden tensor was changed"),
    "mode": ("a train() or eval() switch", "train() and eval() were never called"),
    "freeze": ("a change of requires_grad, or an attempt at one", "requires_grad was never changed"),
    "load": ("a load_state_dict call and what it matched", "no state dict was loaded"),
    "overwritten": ("loaded weights that were gone at the next step", "no loaded weights were overwritten"),
    "mixture": (
        "a step on gradients of a pass that another optimizer had used",
        "no step used the gradients of another optimizer's pass",
    ),
    "set_back": ("a trained model that loaded the weights of its copy", "no trained model loaded its copy's weights"),
    "untied": ("weights that were one tensor and are trained as two", "no tied weights were parted"),
    "late_save": ("a state dict that was saved after the model had moved on", "no state dict was saved late"),
    "copy": (
        "a copy of the trained model at an evaluation, and its source",
        "no copy of a trained model was evaluated",
    ),
    "average": ("how far the averaged copy moved towards the model in a step", "no copy of a trained model was seen"),
    "teacher": ("a frozen model that gives answers in train mode", "no frozen model answers in train mode"),
    "resumed": ("a scheduler made for an optimizer with a restored state", "no optimizer was restored"),
    "forgotten": ("an optimizer's state that a resume left in its file", "no optimizer's state was left in its file"),
    "time": ("how long the parts of the loop took, window by window", "no optimizer took a step"),
    "slow_step": ("a step that took much longer than the others", "no step was much slower than the others"),
    "sample": ("a line of the script seen at work, by part of the loop", "the run was too short to look at it"),
    "epoch": ("one pass over a DataLoader: how long training waited for it", "no DataLoader was read to its end"),
    "compile": ("a call of torch.compile", "torch.compile is not used"),
    "recompile": ("a function compiled once more, and the guard that failed", "nothing was compiled twice"),
    "sync": ("a call that makes the host wait for an accelerator", "no accelerator is used"),
    "stall": ("a moment at which nothing had moved for long, with all stacks", "training never hung"),
    "trace": ("a profiler's trace of a few steps", "no trace was asked for"),
    "seed": ("a random seed being set", "no seed was set"),
    "memory": ("the memory that this process may use", "no optimizer took a step"),
    "memory_peak": ("the most memory that was ever resident", "the run has not ended"),
    "process": ("a process whose memory is polled", "no optimizer took a step"),
    "device_memory": ("an accelerator that holds memory of this process", "no accelerator is used"),
    "retained": ("a variable that keeps graphs from step to step", "no graph was kept"),
    "hoard": ("a variable whose content grows from step to step", "nothing piled up"),
    "out_of_memory": ("who held what when memory ran out", "memory did not run out"),
    "intervention": ("whether what an experiment changes was really changed", "this run is not an experiment"),
    "experiment": ("one experiment and how it went", "needs experiments (paramedic diagnose)"),
    "wrapper": ("a model wrapped for training on several ranks", "no DistributedDataParallel is used"),
    "exchange": ("how a wrapped model was used so far", "no DistributedDataParallel was trained"),
    "unreduced": (
        "parameters whose gradients the other ranks never received",
        "every gradient that the other ranks expected arrived",
    ),
    "exception": ("the exception that ended the script", "the script ended without an exception"),
    "probe_failed": ("a probe that failed and was detached", "no probe failed"),
    "not_summarised": ("a tensor without statistics, and why", "every tensor could be summarised"),
    "gear": ("what the watcher could not examine, and why", "everything could be examined"),
}
