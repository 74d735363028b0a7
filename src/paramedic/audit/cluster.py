"""The same pass on a Ray cluster: each worker sketches a part, and the sketches are merged here."""

from __future__ import annotations

from typing import Any

import numpy as np

from paramedic.audit.chunk import Source
from paramedic.audit.sketches.split import SplitSketch
from paramedic.errors import ParamedicError

FEWEST = 1000  # samples per part


def sketch_on(where: str, source: Source, progress: Any) -> SplitSketch:
    """Sketch a source in parts. Its samples must be readable by index, and from every machine."""
    if where != "ray":
        raise ParamedicError(
            f"--on {where} is not known",
            expected="ray",
            fix="--on ray",
        )
    if not len(source.indices):
        raise ParamedicError(
            f"{source.title} is a stream, which cannot be read in parts",
            expected="data that has a length",
            fix="leave --on ray out",
        )
    ray = _needed()
    if not ray.is_initialized():
        ray.init(log_to_driver=False, configure_logging=False, include_dashboard=False)
    workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
    parts = np.array_split(source.indices, min(4 * workers, max(1, len(source.indices) // FEWEST)))
    # Contents are compared by Python's hash of them, which all workers must seed alike.
    remote = ray.remote(_part).options(runtime_env={"env_vars": {"PYTHONHASHSEED": "0"}})
    reader = ray.put(source.read_some)
    waiting = {remote.remote(reader, part): place for place, part in enumerate(parts)}
    found: dict[int, SplitSketch] = {}
    while waiting:
        (done, *_), _ = ray.wait(list(waiting))
        place = waiting.pop(done)
        found[place] = ray.get(done)
        progress.advance(len(parts[place]))
    whole = SplitSketch()
    for place in sorted(found):
        whole.merge(found[place])
    return whole


def _part(reader: Any, indices: object) -> SplitSketch:
    found = SplitSketch()
    for chunk in reader(indices):
        found.update(chunk)
    return found


def _needed() -> Any:
    try:
        import ray
    except ImportError:
        raise ParamedicError(
            "Ray is not installed",
            expected="the package ray",
            fix="pip install 'paramedic[ray]'",
        ) from None
    return ray
