"""DataLoaders with another batch size: the argument is the size, or a factor such as x4."""

from __future__ import annotations

from torch.utils.data import DataLoader

from paramedic.aliases import Function
from paramedic.interventions.surroundings import Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    surroundings.reason = "no DataLoader with a batch size of its own is used"

    def other(original: Function) -> Function:
        def init(
            loader: DataLoader, dataset: object, batch_size: int | None = 1, *args: object, **kwargs: object
        ) -> None:
            if batch_size is not None and kwargs.get("batch_sampler") is None:
                surroundings.applied += 1
                batch_size = batch_size * int(argument[1:]) if argument.startswith("x") else int(argument)
            original(loader, dataset, batch_size, *args, **kwargs)

        return init

    surroundings.replace(DataLoader, "__init__", other)
