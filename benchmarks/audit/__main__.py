"""python -m benchmarks.audit: how fast the parts of an audit are, beside cleanlab, datasketch and ydata-profiling.

Peers that are not installed are left out. Every figure is the best of three, in processor time of one thread, because
machines are shared. The equality with cleanlab is checked, not assumed.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from paramedic.audit.audit import Split
from paramedic.audit.chunk import Chunk
from paramedic.audit.models.label_errors import off_diagonal, self_confidence
from paramedic.audit.models.meeting import meet
from paramedic.audit.models.near import COMMON
from paramedic.audit.models.rows import row_pairs
from paramedic.audit.sketches import hashes, minhash, pictures
from paramedic.audit.sketches.split import SplitSketch, sketch
from paramedic.audit.sources import open_source


def best(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    found, seconds = None, []
    for _ in range(times):
        began = time.process_time()
        found = work()
        seconds.append(time.process_time() - began)
    return min(seconds), found


def row(what: str, ours: str, peer: str = "", theirs: str = "") -> None:
    print(f"| {what} | {ours} | {peer or '–'} | {theirs or '–'} |", flush=True)


def installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def exact(random: np.random.Generator) -> None:
    images = random.integers(0, 255, (100_000, 32, 32, 3), dtype=np.uint8)
    seconds, _ = best(lambda: hashes.of_values(images))
    row("content hashes, 32 × 32 × 3 bytes", f"{len(images) / seconds / 1e6:.2f} M/s")


def gradients(random: np.random.Generator) -> None:
    images = random.integers(0, 255, (20_000, 32, 32), dtype=np.uint8).astype(np.float32)
    seconds, _ = best(lambda: pictures.difference_hash(images))
    row("dHash, 32 px grey", f"{len(images) / seconds / 1e3:.0f} k/s")


def texts(random: np.random.Generator) -> None:
    """Documents of 60 words, each with a copy in which a few words are replaced (Jaccard about 0.75)."""
    words = np.asarray([f"w{number}" for number in range(20_000)])
    first = words[random.integers(0, len(words), (10_000, 60))]
    second = first.copy()
    for place in range(3):
        second[np.arange(len(second)), random.integers(0, 60, len(second))] = f"changed{place}"
    documents = [" ".join(line) for line in np.concatenate([first, second])]
    half = len(first)

    def ours() -> set[tuple[int, int]]:
        found = minhash.signatures(documents)
        a, b = meet(minhash.bands(found))
        alike = minhash.similarity(found[a], found[b]) >= COMMON - 0.1
        return set(zip(a[alike].tolist(), b[alike].tolist(), strict=True))

    seconds, pairs = best(ours)
    true = {(place, place + half) for place in range(half)}
    said = f"{len(documents) / seconds / 1e3:.1f} k/s, recall {len(pairs & true) / half:.3f}, {len(pairs - true)} wrong"
    theirs = ""
    if installed("datasketch"):
        seconds, pairs = best(lambda: _datasketch(documents), times=1)
        theirs = f"{len(documents) / seconds / 1e3:.1f} k/s, recall {len(pairs & true) / half:.3f}"
    row("texts nearly equal, 60 words", said, "datasketch", theirs)


def _datasketch(documents: list[str]) -> set[tuple[int, int]]:
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=0.6, num_perm=128)
    found: set[tuple[int, int]] = set()
    for number, document in enumerate(documents):
        words = document.split()
        sketch = MinHash(num_perm=128)
        sketch.update_batch([" ".join(words[i : i + 3]).encode() for i in range(len(words) - 2)])
        found |= {(other, number) for other in index.query(sketch)}
        index.insert(number, sketch)
    return found


def confident(random: np.random.Generator) -> None:
    labels = random.integers(0, 10, 50_000)
    scores = random.gamma(1, 1, (50_000, 10))
    scores[np.arange(50_000), labels] += random.choice([0, 6], 50_000, p=[0.1, 0.9])
    probabilities = scores / scores.sum(axis=1, keepdims=True)
    seconds, flagged = best(lambda: (off_diagonal(labels, probabilities), self_confidence(labels, probabilities)))
    theirs = ""
    if installed("cleanlab"):
        from cleanlab.filter import find_label_issues
        from cleanlab.rank import get_label_quality_scores

        took, issues = best(
            lambda: find_label_issues(labels, probabilities, filter_by="confident_learning", n_jobs=1), times=2
        )
        same = bool((issues == flagged[0]).all())
        close = bool(np.allclose(get_label_quality_scores(labels, probabilities), flagged[1]))
        theirs = f"{took:.3f} s; same samples: {same}, same scores: {close}"
    row("confident learning, 50,000 × 10", f"{seconds:.3f} s", "cleanlab", theirs)


def profile(random: np.random.Generator) -> None:
    table = random.normal(size=(40_000, 37))
    chunk = Chunk(indices=np.arange(40_000), inputs={"": table}, target=None)

    def ours() -> SplitSketch:
        found = SplitSketch()
        found.update(chunk)
        return found

    seconds, _ = best(ours)
    theirs = ""
    if installed("ydata_profiling"):
        import pandas as pd
        from ydata_profiling import ProfileReport

        frame = pd.DataFrame(table, columns=[f"f{i}" for i in range(37)])
        took, _ = best(lambda: ProfileReport(frame, minimal=True, progress_bar=False).to_json(), times=1)
        theirs = f"{took:.1f} s (minimal)"
    row("profile of 40,000 × 37", f"{seconds:.2f} s", "ydata-profiling", theirs)


def rows(random: np.random.Generator) -> None:
    """Rows of 30 numbers, a twentieth of them once more with a little noise."""
    table = random.normal(size=(100_000, 30))
    copied = random.choice(len(table), 5_000, replace=False)
    table = np.concatenate([table, table[copied] + 0.01 * random.normal(size=(5_000, 30))])
    source = open_source(table)
    split = Split("train", source, sketch(source))
    seconds, pairs = best(lambda: row_pairs([split]), times=1)
    true = {(int(row), 100_000 + place) for place, row in enumerate(copied)}
    found = {(pair.first[1], pair.second[1]) for pair in pairs}
    said = f"{len(table) / seconds / 1e3:.0f} k/s, recall {len(found & true) / 5_000:.3f}, {len(found - true)} wrong"
    row("rows nearly equal, 105,000 × 30", said)


def main() -> None:
    print("| what | paramedic | peer | its figure |\n|---|---|---|---|")
    for part in (exact, gradients, texts, rows, confident, profile):
        part(np.random.default_rng(0))


if __name__ == "__main__":
    main()
