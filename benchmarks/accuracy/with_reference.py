"""TrainCheck on a sample of the real bugs: `python -m benchmarks.accuracy.peers` calls this where it is installed.

It learns invariants from the trace of a run that is known to be good, and checks the trace of another run against
them. The reference is the repaired twin itself, the most favourable one there is. Checked are the sick program, and
the twin with another seed: what that violates is a false alarm. What the reference's own trace violates is left out.

All three are traced alike, as in its tutorial: with `--invariants` even the reference's script and seed violate 20 of
641, without it 3 (V05). Traced are the first ten steps and every tenth, its default for checking: to learn from all
steps of such a program takes more than five minutes, the limit for each of its commands. It is told the model by the
names of the variables whose parameters the script asks for.

Called with the name of a pair it runs that one, and prints what was violated as one line of JSON.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.accuracy.programs import HERE
from benchmarks.accuracy.running import with_seed
from benchmarks.accuracy.score import share

PAIRS = (  # one of each family, drawn by lot
    "C01-dead-relu", "D03-unsorted-listing", "G07-inplace-fpn", "L31-blank-as-label", "M09-ema-buffers",
    "N17-odometer-rnn", "P07-guarded-unfreeze", "S07-pad-is-eos", "T15-resume-lambdalr", "V05-scores-for-classes",
    "X03-ddp-unused-layer",
)  # fmt: skip
SECONDS = 300  # for each of its commands
STEPS = ("--sampling-interval", "10", "--warm-up-steps", "10")
ORDER = ("FunctionCoverRelation", "FunctionLeadRelation")  # which call comes before which: its tutorial ignores these
Violated = dict[str, list[list[str]]]  # by run: relation and text of each invariant


def main(name: str = "") -> None:
    if name:
        print(json.dumps({name: violated(name)}))
    else:
        print("\n".join(table({name: violated(name) for name in PAIRS})))


def table(answers: dict[str, Violated | None]) -> Iterator[str]:
    """Rows of the table of peers, with all invariants and without those that its tutorial ignores; then remarks."""
    finished = [answer for answer in answers.values() if answer is not None]
    remarks = [f"not finished: {name}" for name, answer in answers.items() if answer is None]
    for ignored, which in (((), "all invariants"), (ORDER, "none about the order of calls")):
        said = [(beyond(one, "sick", ignored), beyond(one, "fixed", ignored)) for one in finished]
        cells = (
            share(bool(sick) for sick, _ in said),
            share(bool(sick and not twin) for sick, twin in said),
            share(bool(twin) for _, twin in said),
        )
        yield f"| TrainCheck, {which}, on {len(answers)} pairs | {' | '.join(map(str, cells))} |"
        more = share(bool(sick - twin) for sick, twin in said)
        remarks.append(f"{which}: the sick program violates one that its twin does not in {more}")
    yield ""
    yield from remarks


def beyond(one: Violated, who: str, ignored: tuple[str, ...]) -> set[str]:
    """Invariants that one of the runs violates, without those that the trace they were learnt from violates itself."""
    mine, own = ({text for kind, text in one[run] if kind not in ignored} for run in (who, "reference"))
    return mine - own


def violated(name: str) -> Violated | None:
    """What the reference, the twin with another seed and the sick program violate; None where it could not be run."""
    source = HERE / "real" / name
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        reference = with_seed(source / "fixed.py", 0, home / "reference")
        fixed = with_seed(source / "fixed.py", 1, home / "fixed")
        sick = with_seed(source / "sick.py", 0, home / "sick")
        try:
            collect(reference).check_returncode()
            collect(fixed).check_returncode()
            collect(sick)  # it may fail: what was traced until then counts
            command("infer", "-f", "reference/trace", "-o", "invariants.json", cwd=home).check_returncode()
            return {script.parent.name: check(script.parent) for script in (reference, fixed, sick)}
        except (subprocess.SubprocessError, OSError, ValueError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            return None


def collect(script: Path) -> subprocess.CompletedProcess[str]:
    names = models(script.read_text())
    tracked = ("--models-to-track", *names) if names else ()
    return command("collect", "--pyscript", script.name, *tracked, *STEPS, "--output-dir", "trace", cwd=script.parent)


def check(folder: Path) -> list[list[str]]:
    command("check", "-f", "trace", "-i", "../invariants.json", "-o", "said", cwd=folder).check_returncode()
    said = json.loads((folder / "said" / "trace" / "violations_summary.json").read_text())
    return [[one["relation_type"], one["display_name"]] for one in said["violations"]]


def models(text: str) -> list[str]:
    """Variables that are assigned a call's result and asked for their parameters()."""
    nodes = list(ast.walk(ast.parse(text)))
    assigned = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    asked = {
        node.value.id
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr == "parameters" and isinstance(node.value, ast.Name)
    }
    return sorted(assigned & asked)


def command(verb: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    program = [str(Path(sys.executable).with_name(f"traincheck-{verb}")), *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with (cwd / f"{verb}.txt").open("w") as said:
        running = subprocess.Popen(program, cwd=cwd, env=environment, stdout=said, stderr=said, start_new_session=True)
        try:
            return subprocess.CompletedProcess(program, running.wait(SECONDS))
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)  # the script is a child of its command


if __name__ == "__main__":
    main(*sys.argv[1:])
