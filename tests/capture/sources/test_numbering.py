"""Loaders are told apart by what they read, not by which object they are."""

import torch
from torch.utils.data import DataLoader, Subset, SubsetRandomSampler, TensorDataset

from paramedic.capture.sources.numbering import MOST_OF_A_LINE, Numbering
from paramedic.record.writer import Site

HERE = Site("train.py", 10, "main")
THERE = Site("train.py", 20, "main")
DATA = TensorDataset(torch.arange(20.0))


def test_a_loader_that_is_built_again_every_epoch_keeps_its_number() -> None:
    numbers = Numbering()
    validation = DataLoader(DATA, batch_size=10)
    assert numbers.add(validation, THERE) == 0
    assert {numbers.add(DataLoader(DATA, batch_size=5, shuffle=True), HERE) for _ in range(4)} == {1}


def test_a_new_loader_never_takes_the_number_of_one_that_lives() -> None:
    numbers = Numbering()
    numbers.add(DataLoader(DATA, batch_size=5), HERE)  # gone at once
    kept = DataLoader(DATA, batch_size=10)
    assert numbers.add(kept, THERE) == 1
    assert numbers.add(DataLoader(Subset(DATA, range(10)), batch_size=5), HERE) == 2
    assert numbers.get(kept) == 1


def test_the_folds_of_a_cross_validation_are_different_loaders() -> None:
    numbers = Numbering()
    by_sampler = [
        numbers.add(DataLoader(DATA, sampler=SubsetRandomSampler(range(n, n + 5))), HERE) for n in (0, 5, 10, 0)
    ]
    by_subset = [numbers.add(DataLoader(Subset(DATA, range(n, n + 5))), THERE) for n in (0, 5, 10, 0)]
    assert by_sampler == [0, 1, 2, 0]
    assert by_subset == [3, 4, 5, 3]


def test_loaders_of_one_line_that_live_together_are_different() -> None:
    numbers = Numbering()
    together = [DataLoader(DATA, batch_size=5) for _ in range(2)]
    assert [numbers.add(loader, HERE) for loader in together] == [0, 1]


def test_a_loader_for_every_batch_does_not_fill_the_record() -> None:
    numbers = Numbering()
    seen = {numbers.add(DataLoader(TensorDataset(torch.rand(3, 1))), HERE) for _ in range(5 * MOST_OF_A_LINE)}
    assert len(seen) <= MOST_OF_A_LINE
