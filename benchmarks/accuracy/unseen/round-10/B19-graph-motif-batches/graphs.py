"""Random node-attributed graphs; the class depends on how attributes meet along edges."""
import numpy as np
import torch


def random_graph(rng):
    n = int(rng.integers(8, 15))
    kinds = rng.integers(0, 3, n)
    label = int(rng.integers(0, 2))
    edges = set()
    while len(edges) < 2 * n:
        a, b = rng.integers(0, n, 2)
        if a == b:
            continue
        alike = kinds[a] == kinds[b]
        keep = 0.8 if alike == bool(label) else 0.25
        if rng.random() < keep:
            edges.add((int(min(a, b)), int(max(a, b))))
        elif rng.random() < 0.02:
            edges.add((int(min(a, b)), int(max(a, b))))
    e = np.array(sorted(edges)).T
    e = np.concatenate([e, e[::-1]], 1)
    x = np.eye(3, dtype=np.float32)[kinds] + rng.normal(0, 0.05, (n, 3)).astype(np.float32)
    return {"x": torch.from_numpy(x), "edge_index": torch.from_numpy(e.copy()).long(), "y": label}


def make_dataset(n, seed):
    rng = np.random.default_rng(seed)
    return [random_graph(rng) for _ in range(n)]
