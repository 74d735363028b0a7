"""The text of a test file for a script: the checks that apply to it, each with the reason why."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from paramedic.launch import Target
from paramedic.program.tensors import tensors_in
from paramedic.testing.case import as_call
from paramedic.testing.changing import frozen_run
from paramedic.testing.restore import restored
from paramedic.testing.script.training import Training

TOP = '''"""Tests of {script}. Written by `paramedic test`; yours to edit.{about}
"""

from pathlib import Path
{imports}
from paramedic import testing

HERE = Path(__file__).parent
'''

ABOUT = """

The model, the loss and the optimizer are those of {script} as it is now: of its statements only those run that make
them{lines}. The batch and the weights of its first step are in {fixture}."""

FIXTURE = """

@pytest.fixture
def training():
    return testing.load_training(HERE / "{path}", HERE / "{fixture}")
"""

WHOLE = """

def test_no_known_fault():
    # All rules of paramedic on the script itself, for at most a minute and in a copy of its folder.
    testing.assert_no_fault(HERE / "{path}"{args}, folder=HERE / "{folder}")
"""

STEP = "training.model, training.loss, training.batch"
CHECKS = {
    "learns": (
        "A model that cannot fit a single batch has a bug, whatever the data: the loss must come near its floor.",
        f"assert_learns({STEP}, optimizer=training.optimizer)",
    ),
    "every_parameter_moves": (
        "A parameter that never changes is cut off from the loss, or missing in the optimizer.",
        f"assert_all_move({STEP}, optimizer=training.optimizer)",
    ),
    "nothing_is_nan": (
        "One NaN in an output or a gradient spoils all weights in the next step.",
        f"assert_no_nan({STEP}, optimizer=training.optimizer)",
    ),
    "frozen_parameters_stay": (
        "Frozen parameters must not drift, by weight decay or by the running statistics of a norm.",
        f"assert_frozen({STEP}, optimizer=training.optimizer)",
    ),
    "resumes": (
        "A run that goes on from a checkpoint must be the run that was never interrupted.",
        f"assert_resumes({STEP}, optimizer=training.optimizer)",
    ),
    "evaluation_is_deterministic": (
        "Dropout or sampling that is still on in eval() makes every metric a matter of luck.",
        "assert_deterministic(training.model, training.arguments)",
    ),
    "samples_are_independent": (
        "No sample's output may depend on its batch: a wrong axis in a view, softmax or recurrent layer mixes them.",
        "assert_batch_independent(training.model, training.arguments)",
    ),
    "no_future_leaks": (
        "A model that predicts the next token must not see it.",
        "assert_causal(training.model, training.arguments)",
    ),
}


@dataclass(frozen=True, slots=True)
class Apart:
    """A script that could be taken apart: its training, the fixture, and the lines that compute its loss."""

    training: Training
    fixture: Path
    lines: tuple[int, int] | None


def test_file(target: Target, output: Path, apart: Apart | None) -> str:
    """The whole file, ready to run. Without `apart` it tests the script as a whole and nothing else."""
    script, here = Path(target.name), output.resolve().parent
    path, folder = _relative(script.resolve(), here), _relative(Path.cwd(), here)
    whole = WHOLE.format(path=path, folder=folder, args="".join(f", {word!r}" for word in target.args))
    if apart is None:
        return TOP.format(script=script.name, about="", imports="") + whole
    lines = "" if apart.lines is None else ", and lines {} to {} for the loss".format(*apart.lines)
    about = ABOUT.format(script=script.name, lines=lines, fixture=apart.fixture.name)
    parts = [TOP.format(script=script.name, about=about, imports="\nimport pytest\n")]
    parts.append(FIXTURE.format(path=path, fixture=apart.fixture.name))
    for name in that_apply(apart.training):
        why, call = CHECKS[name]
        parts.append(f"\n\ndef test_{name}(training):\n    # {why}\n    testing.{call}\n")
    return "".join([*parts, whole])


def _relative(path: Path, here: Path) -> str:
    return Path(os.path.relpath(path, here)).as_posix()


def that_apply(training: Training) -> list[str]:
    """The names of the checks that make sense for this training."""
    model = training.model
    names = ["learns", "every_parameter_moves", "nothing_is_nan"]
    if any(not p.requires_grad for p in model.parameters()):
        names.append("frozen_parameters_stay")
    names.append("resumes")
    return names + _about_outputs(training)


def run_check(name: str, training: Training) -> None:
    """What the test of this name does."""
    from paramedic import testing

    eval(CHECKS[name][1], {**vars(testing), **{n: getattr(testing, n) for n in testing.__all__}, "training": training})


def _about_outputs(training: Training) -> list[str]:
    """Those that call the model by itself, where that is possible in evaluation mode."""
    try:
        with restored(training.model), torch.no_grad():
            outputs = frozen_run(training.model, as_call(training.arguments))
    except Exception:
        return []
    inputs = [t for _, t in tensors_in(training.inputs) if t.dim() > 0]
    if not inputs or not outputs:
        return []
    size = len(inputs[0])
    names = ["evaluation_is_deterministic"]
    # Samples beside samples, as in contrastive training, or as in a graph: they are meant to meet.
    beside = any(size in t.shape[1:] for t in (*outputs, *inputs))
    if size > 1 and all(len(t) == size for t in inputs) and all(t.dim() > 0 and len(t) == size for t in outputs):
        names += [] if beside else ["samples_are_independent"]
    if _predicts_the_next(training, inputs, outputs):
        names.append("no_future_leaks")
    return names


def _predicts_the_next(training: Training, inputs: list[Any], outputs: list[Any]) -> bool:
    """Tokens in, scores for each place out, and the targets are the same tokens one place later."""
    tokens = [t for t in inputs if t.dim() == 2 and t.dtype == torch.int64 and t.shape[1] > 3]
    scores = [t for t in outputs if t.dim() == 3]
    given = [t for _, t in tensors_in(training.batch) if t.dim() == 2 and t.dtype == torch.int64]
    bidirectional = any(isinstance(m, nn.RNNBase) and m.bidirectional for m in training.model.modules())
    for token in tokens:
        for target in given:
            later = target.shape == token.shape and torch.equal(target[:, :-1], token[:, 1:])
            longer = target.shape[1] == token.shape[1] + 1 and torch.equal(target[:, :-1], token)
            if (later or longer) and any(s.shape[:2] == token.shape for s in scores) and not bidirectional:
                return True
    return False
