"""`python -m benchmarks.parity [WORDS]`: all planted differences, benign refactorings and peers in one table."""

from __future__ import annotations

import importlib
import re
import sys
import time
from pathlib import Path
from typing import Any

import torch

import paramedic
from benchmarks.parity import peers
from benchmarks.parity.benign import BENIGN
from benchmarks.parity.case import Planted

PAIRS = ("torch", "onnx", "keras", "flax", "tensorflow", "dump")
RESULTS = Path(__file__).parent / "RESULTS.md"


def judged(case: Planted) -> dict[str, Any]:
    started = time.perf_counter()
    a, b, inputs = case.make()
    found = paramedic.compare(a, b, inputs)
    first = found.first
    said = " ".join([first.cause, *first.hints]) if first else ""
    return {
        "layer": first is not None and (first.a in case.layers or first.b in case.layers),
        "cause": first is not None and all(re.search(words, said) for words in case.cause),
        "proof": first is not None and first.confirmed and len(found.parts) == 1 and found.parts[-1].agreement < 1e-5,
        "said": said,
        "seconds": time.perf_counter() - started,
        "models": (a, b, inputs),
    }


def asked(case: Planted, models: Any) -> dict[str, str]:
    """What the peers name."""
    answers = {}
    for name, peer in peers.PEERS.items():
        try:
            answer = peer(*models)
        except Exception as error:
            answer = f"failed: {type(error).__name__}"
        answers[name] = "silent" if answer is None else "right" if answer in case.layers else f"{answer or 'the model'}"
    return answers


def main() -> None:
    torch.set_num_threads(1)
    rows, totals, answers = [], [], []
    for pair in PAIRS:
        try:
            module = importlib.import_module(f"benchmarks.parity.planted_{pair}")
        except ImportError as error:
            print(f"{pair}: left out ({error})")
            continue
        for case in module.planted():
            result = judged(case)
            totals.append((case, result))
            marks = " | ".join("yes" if result[key] else "**no**" for key in ("layer", "cause", "proof"))
            rows.append(f"| {case.pair} | {case.architecture} | {case.name} | {marks} | {result['said'][:110]} |")
            print(rows[-1], f"{result['seconds']:.1f} s", flush=True)
            if pair == "torch":
                answers.append((case, asked(case, result["models"])))
    harmless = []
    for name, make in BENIGN.items():
        try:
            found = paramedic.compare(*make())
            harmless.append((name, found.verdict, found.error, found.working_error))
        except ImportError as error:
            harmless.append((name, f"left out ({error})", 0.0, 0.0))
        print(harmless[-1], flush=True)
    if not sys.argv[1:]:
        RESULTS.write_text(report(rows, totals, harmless, answers), encoding="utf-8")


def report(rows: list[str], totals: Any, harmless: Any, answers: Any) -> str:
    count = {key: sum(result[key] for _, result in totals) for key in ("layer", "cause", "proof")}
    wrong = sum(verdict == "differ" for _, verdict, _, _ in harmless)
    pairs, nets = {c.pair for c, _ in totals}, {c.architecture for c, _ in totals}
    lines = [
        "# Parity: planted differences", "",
        f"`python -m benchmarks.parity`: {len(totals)} differences, {len(nets)} architectures, {len(pairs)} pairs.", "",
        f"- first layer right: **{count['layer']} of {len(totals)}**",
        f"- cause named: **{count['cause']} of {len(totals)}**",
        f"- confirmed by a re-run of the whole model: **{count['proof']} of {len(totals)}**",
        f"- benign refactorings called a difference: **{wrong} of {len(harmless)}**",
        "", "| pair | model | planted | layer | cause | proof | what was said |",
        "|---|---|---|---|---|---|---|", *rows,
        "", "## Benign refactorings", "", "| refactoring | verdict | float64 | as they are |", "|---|---|---|---|",
        *(f"| {name} | {verdict} | {exact:.0e} | {working:.0e} |" for name, verdict, exact, working in harmless),
        "", "## Other tools, on the torch–torch half", "",
        "Right: the first thing named is the layer. None of them names a cause.", "",
        f"| planted | paramedic | {' | '.join(peers.PEERS)} |", f"|---|---|{'---|' * len(peers.PEERS)}",
    ]  # fmt: skip
    known = {id(case): result for case, result in totals}
    for case, said in answers:
        mine = "right" if known[id(case)]["layer"] else "wrong"
        lines.append(
            f"| {case.architecture}: {case.name} | {mine} | {' | '.join(said[name] for name in peers.PEERS)} |"
        )
    lines += ["", *(f"{name}: {why} here." for name, why in peers.NOT_HERE.items()), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
