"""Simple and classical models on the captured samples: is there anything in the inputs that tells the target?"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from paramedic.aliases import Fields
from paramedic.lab.noise import Array, dealt
from paramedic.lab.outcome import ANSWER
from paramedic.lab.series import interleaved

FOLDS = 4
MOST_SAMPLES = 1_500  # for all but the linear model
MOST_NUMBERS = 2_000_000  # of the table that the linear model gets
MOST_FEATURES = 300
FEWEST = 100  # samples


def answer(captured: Path, folder: Path) -> None:
    """Write what simple models find in the captured samples, by cross-validation."""
    warnings.simplefilter("ignore")
    found = examine(captured)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ANSWER).write_text(json.dumps(found))


def examine(captured: Path) -> Fields:
    if not captured.exists():
        return {"task": None, "reason": "no pairs of inputs and targets could be kept"}
    with np.load(captured) as kept:
        raw, y = place_by_place(kept["x"], kept["y"])
    x, is_table = features(raw), raw.ndim == 2 and np.issubdtype(raw.dtype, np.floating)
    y = y.reshape(len(y), -1)
    looked = looks(x, y) | {"one_token": one_token(raw), "contradictions": contradictions(raw, y)}
    looked["interleaved"] = interleaved(raw, y)
    _, first = np.unique(x, axis=0, return_index=True)  # a sample in two folds would be known already
    chosen = np.sort(first)[: max(MOST_SAMPLES, MOST_NUMBERS // x.shape[1])]
    x, y = x[chosen], y[chosen]
    if len(x) < FEWEST:
        return {"task": None, "reason": f"only {len(x)} different samples were seen; {FEWEST} are needed"} | looked
    if y.shape[1] > 4:
        y = y.argmax(1)[:, None] if _is_one_hot(y) else y
    if y.shape[1] > 4:
        return {"task": None, "reason": f"the target has {y.shape[1]} values per sample"} | looked
    whole = y.shape[1] == 1 and bool(np.all(y == np.round(y)))
    classes = len(np.unique(y)) if whole else 0
    if whole and classes < 2:
        return {"task": None, "reason": "all kept samples have the same target"} | looked
    task = "classes" if whole and classes <= max(20, len(y) // 20) else "values"
    models, random = _classes(x, y[:, 0]) if task == "classes" else (_values(x, y[:, 0]), None)
    best = max(models, key=lambda name: models[name]["z"])
    return looked | {"task": task, "samples": len(x), "features": x.shape[1], "models": models, "best": best,
            "structure": structure(x), "dealt": random,
            "copy": copied_column(x, y[:, 0], task) if is_table else None, **models[best]}  # fmt: skip


def looks(x: Array, y: Array) -> Fields:
    """What can be seen without any model: how many samples differ, and how much equal inputs tell of their targets."""
    rows = np.unique(x, axis=0, return_inverse=True)[1].ravel()
    targets = np.unique(y, axis=0, return_inverse=True)[1].ravel()
    pairs, counts = np.unique(np.stack([rows, targets]), axis=1, return_counts=True)
    most = np.zeros(rows.max() + 1)
    np.maximum.at(most, pairs[0], counts)  # the most frequent target of each input
    always = np.bincount(targets).max() / len(targets)
    told = (most.sum() / len(rows) - always) / (1 - always) if always < 1 else 0.0
    return {"kept": len(x), "different_inputs": len(most), "different_targets": len(np.unique(targets)),
            "told": float(told)}  # fmt: skip


def place_by_place(x: Array, y: Array) -> tuple[Array, Array]:
    """Where every place of a sample has features and a target of its own, a place is a sample."""
    if y.ndim == x.ndim - 1 >= 2 and y.shape == x.shape[:-1] and x.shape[-1] > 1:
        return x.reshape(-1, x.shape[-1]), y.reshape(-1)
    return x, y


def one_token(x: Array) -> int | None:
    """Of texts: the only token there is, apart from padding at one end."""
    if not np.issubdtype(x.dtype, np.integer) or x.dtype == np.uint8 or x.ndim != 2 or x.shape[1] < 4:
        return None
    tokens = np.unique(x)
    if len(tokens) != 2:
        return int(tokens[0]) if len(tokens) == 1 else None
    for padding, token in (tokens, tokens[::-1]):
        changes = np.diff((x == token).astype(int), axis=1)
        if np.all((changes != 0).sum(1) <= 1) and np.all(np.any(x == token, axis=1)) and (
            np.all(changes <= 0) or np.all(changes >= 0)
        ) and padding == 0:  # fmt: skip
            return int(token)
    return None


def features(x: Array) -> Array:
    """One row of numbers per sample: token ids are counted, large inputs thinned out."""
    if np.issubdtype(x.dtype, np.integer) and x.dtype != np.uint8 and x.ndim == 2 and x.shape[1] > 1:
        return _counted(x)
    x = np.nan_to_num(x.reshape(len(x), -1).astype(float), posinf=0, neginf=0)
    if x.shape[1] > MOST_FEATURES:
        x = x[:, :: x.shape[1] // MOST_FEATURES + 1]
    spread = x.std(0)
    return (x - x.mean(0)) / np.where(spread > 0, spread, 1)


def _counted(x: Array) -> Array:
    """How often each of the most frequent tokens stands in a text."""
    tokens, places, times = np.unique(x, return_inverse=True, return_counts=True)
    kept = np.sort(np.argsort(-times, kind="stable")[:MOST_FEATURES])
    column = np.full(len(tokens), -1)
    column[kept] = np.arange(len(kept))
    found = column[places.reshape(x.shape)]
    rows = np.repeat(np.arange(len(x)), x.shape[1]).reshape(x.shape)
    table = np.zeros((len(x), len(kept)))
    np.add.at(table, (rows[found >= 0], found[found >= 0]), 1)
    return table


def contradictions(x: Array, y: Array) -> dict[str, float] | None:
    """Of texts: how many pairs are the same text, and the share of them whose targets differ, in units of chance.

    Words that tell the target have been lost where the same text has one target as often as another.
    """
    if not _is_text(x) or y.shape[1] != 1:
        return None
    texts = np.unique(x, axis=0, return_inverse=True)[1].ravel()
    targets = np.unique(y[:, 0], return_inverse=True)[1].ravel()
    table = np.zeros((texts.max() + 1, targets.max() + 1))
    np.add.at(table, (texts, targets), 1)
    pairs = float((table.sum(1) * (table.sum(1) - 1)).sum() / 2)
    alike = float((table * (table - 1)).sum() / 2)
    shares = table.sum(0) / len(x)
    by_chance = float(1 - (shares**2).sum())
    if not pairs or not by_chance:
        return None
    return {"pairs": pairs, "differ": (1 - alike / pairs) / by_chance, "texts": float(len(table))}


def _is_text(x: Array) -> bool:
    return np.issubdtype(x.dtype, np.integer) and x.dtype != np.uint8 and x.ndim == 2 and x.shape[1] > 2


def _is_one_hot(y: Array) -> bool:
    return bool(np.all((y == 0) | (y == 1)) and np.all(y.sum(1) == 1))


def _classes(x: Array, y: Array) -> tuple[Fields, dict[str, float] | None]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC

    kept = np.isin(y, [label for label, count in zip(*np.unique(y, return_counts=True), strict=True) if count >= FOLDS])
    x, y = x[kept], np.unique(y[kept], return_inverse=True)[1]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    candidates = {
        "linear model": (LogisticRegression(max_iter=100), "predict_proba", len(x)),
        "random forest": (RandomForestClassifier(50, max_depth=12, random_state=0), "predict_proba", MOST_SAMPLES),
        "small network": (MLPClassifier((32,), max_iter=30, random_state=0), "predict_proba", MOST_SAMPLES),
        "kernel machine": (SVC(random_state=0), "decision_function", MOST_SAMPLES),
    }
    found: Fields = {}
    told = []
    for name, (model, method, most) in candidates.items():
        held = cross_val_predict(model, x[:most], y[:most], cv=folds, method=method)
        scores = np.stack([-held, held], 1) if held.ndim == 1 else held
        told.append(scores[:MOST_SAMPLES])
        found[name] = _judged(scores, y[:most])
        found[name]["skill"] = _skill(held, y[:most]) if method == "predict_proba" else None
        found[name]["own"] = _on_its_own(model, x[:most], y[:most], folds)
    return found, dealt(x[:MOST_SAMPLES], told, y[:MOST_SAMPLES])


def _on_its_own(model: Any, x: Array, y: Array, folds: Any) -> float:
    """The score on the samples a model was fitted to, in one of the folds: beside the others it shows overfitting."""
    inside, _ = next(folds.split(x, y))
    return float(model.fit(x[inside], y[inside]).score(x[inside], y[inside]))


def _judged(scores: Array, y: Array) -> dict[str, float]:
    """How well scores tell the classes apart: by ranks, because a rare class is hardly ever the most likely one."""
    guessed = scores.argmax(1)
    chance = float(sum((guessed == c).mean() * (y == c).mean() for c in range(scores.shape[1])))
    ranked = []
    for c in range(scores.shape[1]):
        order = scores[:, c].argsort(kind="stable").argsort()
        inside, outside = int((y == c).sum()), int((y != c).sum())
        area = (order[y == c].sum() - inside * (inside - 1) / 2) / max(inside * outside, 1)
        error = np.sqrt((inside + outside + 1) / (12 * max(inside * outside, 1)))
        ranked.append(((area - 0.5) / error, 2 * area - 1, 2 * error))
    z, strength, error = max(ranked)
    right = float((guessed == y).mean())
    return {"score": right, "chance": chance, "z": float(z), "strength": float(strength), "error": float(error)}


def _skill(probabilities: Array, y: Array) -> float:
    """The share of the cross-entropy of guessing that is gone, so that a network's loss can be compared with it."""
    shares = np.bincount(y) / len(y)
    guessing = -float((shares * np.log(shares)).sum())
    told = probabilities[np.arange(len(y)), y].clip(1e-4)
    return 1 + float(np.log(told).mean()) / guessing


def _values(x: Array, y: Array) -> Fields:
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.svm import SVR

    y = (y - y.mean()) / (y.std() or 1)
    folds = KFold(FOLDS, shuffle=True, random_state=0)
    candidates = {
        "linear model": (RidgeCV(np.logspace(-2, 4, 7)), len(x)),
        "random forest": (RandomForestRegressor(30, max_depth=12, max_features=0.5, random_state=0), MOST_SAMPLES),
        "kernel machine": (SVR(), MOST_SAMPLES),
    }
    found = {}
    for name, (model, most) in candidates.items():
        held, wanted = x[:most], y[:most]
        guessed = cross_val_predict(model, held, wanted, cv=folds)
        together = float(np.corrcoef(guessed, wanted)[0, 1]) if guessed.std() > 0 else 0.0
        score, error = float(1 - ((guessed - wanted) ** 2).mean()), float(1 / np.sqrt(len(wanted)))
        found[name] = {"score": score, "chance": 0.0, "z": together / error, "strength": together, "error": error,
                       "skill": score}  # fmt: skip
        found[name]["own"] = _on_its_own(model, held, wanted, folds)
    return found


def structure(x: Array) -> float:
    """How far the features hang together: their largest common direction, relative to what pure noise would have."""
    varying = x[:, x.std(0) > 0]
    if varying.shape[1] < 2:
        return 0.0
    largest = float(np.linalg.eigvalsh(np.cov(varying, rowvar=False))[-1])
    return largest / float((1 + np.sqrt(varying.shape[1] / len(x))) ** 2)


def copied_column(x: Array, y: Array, task: str) -> int | None:
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
