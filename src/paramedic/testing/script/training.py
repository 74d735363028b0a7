"""The training of a script as a test needs it: model, loss, batch and optimizer, from its source and a small file."""

from __future__ import annotations

import ast
import copy
import os
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from paramedic.aliases import Fields
from paramedic.testing.case import Step
from paramedic.testing.restore import restored, seed_all
from paramedic.testing.script.loops import LightningLoss, TrainerLoss, configured, tested_path
from paramedic.testing.script.rebuilding import Source
from paramedic.testing.script.recipes import cook, cook_optimizer, names_in


@dataclass(frozen=True, slots=True)
class Training:
    """What a script trains, at its first step."""

    model: nn.Module
    loss: Step
    batch: dict[str, Any]
    optimizer: Any
    inputs: tuple[tuple[Any, ...], dict[str, Any]]  # of the model

    @property
    def arguments(self) -> object:
        """The model's inputs, as assertions about outputs take them."""
        args, kwargs = self.inputs
        return kwargs if kwargs and not args else args


def load_training(script: str | os.PathLike[str], fixture: str | os.PathLike[str]) -> Training:
    """The model, loss and optimizer as the script's source makes them now; the batch and the weights from the fixture.

    Only the statements that these need are executed: no data is loaded, nothing is trained.
    """
    stored = torch.load(fixture, weights_only=True)
    if "loop" in stored:
        return _of_a_library(Path(script).resolve(), stored)
    source = Source(Path(script).resolve(), stored["argv"], stored["until"])
    code, loss, free, _ = source.step(stored["function"], stored["number"], set(stored["modules"]))
    names, batch = _objects(source, stored, free), stored["batch"]
    model = _get(names, stored["model"])
    _equip(model, stored)
    value = compile(ast.Expression(body=loss), str(source.path), "eval")

    def compute(used: Any, values: Fields) -> torch.Tensor:
        space = {**names, **values}
        _set(space, stored["model"], used)
        exec(code, space)
        return eval(value, space)

    return Training(
        model, Step(compute), batch, _optimizer(names, stored, model), (tuple(stored["args"]), stored["kwargs"])
    )


def _of_a_library(script: Path, stored: dict[str, Any]) -> Training:
    """Where Lightning or transformers call the model."""
    source = Source(script, stored["argv"], stored["until"])
    made, own = stored["recipes"].get("model"), stored["loss_class"]
    also = (names_in(made) if made is not None else set()) | ({own} if own else set())
    with restored():
        names = source.build({name: tuple(origin) for name, origin in stored["origins"].items()}, also)
        holder = names["model"] if made is None else cook(made, names)
    _equip(holder, stored)
    args = tuple(stored["args"]), stored["kwargs"]
    if stored["loop"] == "transformers":
        recipe = stored["optimizer"]
        optimizer = cook_optimizer(recipe, holder, names) if recipe is not None else None
        return Training(holder, Step(TrainerLoss(names[own] if own else None)), stored["batch"], optimizer, args)
    path = tested_path(holder, stored["path"])
    loss = LightningLoss(holder, path)
    inputs = args if path == stored["path"] else ((), {})
    return Training(holder.get_submodule(path), Step(loss), stored["batch"], configured(holder), inputs)


def _objects(source: Source, stored: Fields, free: set[str]) -> dict[str, Any]:
    """By the script's own statements where it gives them a name, else by what is known of their constructors."""
    origins = {name: (place, own) for name, (place, own) in stored["origins"].items()}
    recipes = stored["recipes"]
    also = (free - set(stored["batch"]) - {"self"}) | {n for found in recipes.values() for n in names_in(found)}
    also |= {stored["self"]} if stored["self"] else set()
    with restored():
        names = source.build(origins, also)
        if stored["self"] is not None or any(path.startswith("self.") for path in recipes):
            names["self"] = _stand_in(names.get(stored["self"] or ""), stored["attributes"])
        for path, found in recipes.items():
            if path != stored["optimizer"]:
                _set(names, path, cook(found, names))
    return names


def _stand_in(kind: object, attributes: dict[str, object]) -> Any:
    """For `self` in the method of a trainer: its methods, and the attributes that the step needs."""
    made = object.__new__(kind) if isinstance(kind, type) else SimpleNamespace()
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def _optimizer(names: dict[str, Any], stored: dict[str, Any], model: nn.Module) -> Any:
    path = stored["optimizer"]
    if path is None:
        return None
    found = stored["recipes"].get(path)
    return cook_optimizer(found, model, names) if found is not None else _get(names, path)


def _get(names: dict[str, object], path: str) -> Any:
    first, _, attribute = path.partition(".")
    return getattr(names[first], attribute) if attribute else names[first]


def _set(names: dict[str, object], path: str, value: object) -> None:
    first, _, attribute = path.partition(".")
    if attribute:
        names[first] = copy.copy(names[first])
        setattr(names[first], attribute, value)
    else:
        names[first] = value


def _equip(model: nn.Module, stored: Fields) -> None:
    """The weights and modes of the run. A model that has changed since then starts from its own weights, seeded."""
    state = stored["state"]
    mine = {name: value.shape for name, value in model.state_dict().items()}
    if state is not None and mine == {name: value.shape for name, value in state.items()}:
        model.load_state_dict(state)
    else:
        seed_all(0)
    for name, module in model.named_modules():
        module.training = stored["modes"].get(name, module.training)
