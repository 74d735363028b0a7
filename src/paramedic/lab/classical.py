"""Simple and classical models on the captured samples: is there anything in the inputs that tells the target?"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from paramedic.lab.outcome import ANSWER

FOLDS = 4
MOST_SAMPLES = 1_500
MOST_FEATURES = 300
FEWEST = 100  # samples


def answer(captured: Path, folder: Path) -> None:
    """Write what simple models find in the captured samples, by cross-validation."""
    warnings.simplefilter("ignore")
    found = examine(captured)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ANSWER).write_text(json.dumps(found))


def examine(captured: Path) -> dict[str, Any]:
    if not captured.exists():
        return {"task": None, "reason": "no pairs of inputs and targets could be kept"}
    with np.load(captured) as kept:
        x, y = features(kept["x"]), kept["y"]
        is_table = kept["x"].ndim == 2 and np.issubdtype(kept["x"].dtype, np.floating)
    y = y.reshape(len(y), -1)
    _, first = np.unique(x, axis=0, return_index=True)  # a sample in two folds would be known already
    chosen = np.sort(first)[:MOST_SAMPLES]
    x, y = x[chosen], y[chosen]
    if len(x) < FEWEST:
        return {"task": None, "reason": f"only {len(x)} different samples were seen; {FEWEST} are needed"}
    if y.shape[1] > 4:
        y = y.argmax(1)[:, None] if _is_one_hot(y) else y
    if y.shape[1] > 4:
        return {"task": None, "reason": f"the target has {y.shape[1]} values per sample"}
    whole = y.shape[1] == 1 and bool(np.all(y == np.round(y)))
    classes = len(np.unique(y)) if whole else 0
    if whole and classes < 2:
        return {"task": None, "reason": "all kept samples have the same target"}
    task = "classes" if whole and classes <= max(20, len(y) // 20) else "values"
    models = _classes(x, y[:, 0]) if task == "classes" else _values(x, y[:, 0])
    best = max(models, key=lambda name: models[name]["z"])
    return {"task": task, "samples": len(x), "features": x.shape[1], "models": models, "best": best,
            "structure": structure(x),
            "copy": copied_column(x, y[:, 0], task) if is_table else None, **models[best]}  # fmt: skip


def features(x: Any) -> Any:
    """One row of numbers per sample: token ids are counted, large inputs thinned out."""
    if np.issubdtype(x.dtype, np.integer) and x.dtype != np.uint8 and x.ndim == 2 and x.shape[1] > 1:
        size = min(int(x.max()) + 1, MOST_FEATURES)
        return np.stack([np.bincount(row.clip(0, size - 1), minlength=size) for row in x]).astype(float)
    x = np.nan_to_num(x.reshape(len(x), -1).astype(float), posinf=0, neginf=0)
    if x.shape[1] > MOST_FEATURES:
        x = x[:, :: x.shape[1] // MOST_FEATURES + 1]
    spread = x.std(0)
    return (x - x.mean(0)) / np.where(spread > 0, spread, 1)


def _is_one_hot(y: Any) -> bool:
    return bool(np.all((y == 0) | (y == 1)) and np.all(y.sum(1) == 1))


def _classes(x: Any, y: Any) -> dict[str, Any]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC

    kept = np.isin(y, [label for label, count in zip(*np.unique(y, return_counts=True), strict=True) if count >= FOLDS])
    x, y = x[kept], y[kept]
    y = np.unique(y, return_inverse=True)[1]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    candidates = {
        "linear model": LogisticRegression(max_iter=200),
        "random forest": RandomForestClassifier(100, max_depth=12, random_state=0),
        "small network": MLPClassifier((32,), max_iter=30, random_state=0),
        "kernel machine": SVC(random_state=0),
    }
    found = {}
    for name, model in candidates.items():
        guessed = cross_val_predict(model, x, y, cv=folds)
        right = float((guessed == y).mean())
        # What the same guesses get right by chance: agreement beyond it is Cohen's kappa.
        chance = float(sum((guessed == c).mean() * (y == c).mean() for c in range(y.max() + 1)))
        found[name] = {"score": right, "chance": chance, "z": (right - chance) / _error(guessed, y, chance),
                       "kappa": (right - chance) / max(1 - chance, 1e-9)}  # fmt: skip
    return found


def _error(guessed: Any, y: Any, chance: float) -> float:
    """How much the agreement of two independent labellings varies."""
    return float(max(np.sqrt(chance * (1 - chance) / len(y)), 1e-9))


def _values(x: Any, y: Any) -> dict[str, Any]:
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.svm import SVR

    y = (y - y.mean()) / (y.std() or 1)
    candidates = {
        "linear model": RidgeCV(np.logspace(-2, 4, 7)),
        "random forest": RandomForestRegressor(60, max_depth=12, max_features=0.5, random_state=0),
        "kernel machine": SVR(),
    }
    found = {}
    for name, model in candidates.items():
        guessed = cross_val_predict(model, x, y, cv=KFold(FOLDS, shuffle=True, random_state=0))
        together = float(np.corrcoef(guessed, y)[0, 1]) if guessed.std() > 0 else 0.0
        score = float(1 - ((guessed - y) ** 2).mean())
        found[name] = {"score": score, "chance": 0.0, "z": together * np.sqrt(len(y)), "kappa": max(together, 0.0) ** 2}
    return found


def structure(x: Any) -> float:
    """How far the features hang together: their largest common direction, relative to what pure noise would have."""
    varying = x[:, x.std(0) > 0]
    if varying.shape[1] < 2:
        return 0.0
    largest = float(np.linalg.eigvalsh(np.cov(varying, rowvar=False))[-1])
    return largest / float((1 + np.sqrt(varying.shape[1] / len(x))) ** 2)


def copied_column(x: Any, y: Any, task: str) -> int | None:
    """A column of the inputs that is the target, under another name for each class or on another scale."""
    if x.shape[1] < 2 or len(np.unique(y)) < 2:
        return None
    for column in range(x.shape[1]):
        seen = x[:, column]
        if task == "classes":
            pairs = len(set(zip(seen.tolist(), y.tolist(), strict=True)))
            if pairs == len(np.unique(seen)) == len(np.unique(y)):
                return column
        elif seen.std() > 0 and abs(np.corrcoef(seen, y)[0, 1]) > 1 - 1e-9:
            return column
    return None


if __name__ == "__main__":
    answer(Path(sys.argv[1]), Path(sys.argv[2]))
