"""Questions put to a model: what must move an answer, and what must not."""

from __future__ import annotations

import torch
from torch import nn

from paramedic.capture.active.company import padding, row
from paramedic.capture.active.future import future
from paramedic.capture.active.questions import Batch, Subject


def asked(model: nn.Module, *given: torch.Tensor) -> Subject:
    torch.manual_seed(0)
    batch: Batch = (given, {})
    return Subject(model, batch)


class Pooled(nn.Module):
    """A mean over token embeddings: over all places, or over the real ones."""

    def __init__(self, masked: bool) -> None:
        super().__init__()
        self.embed, self.masked = nn.Embedding(20, 8), masked

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        keep = mask.unsqueeze(-1).float() if self.masked else torch.ones_like(x[..., :1])
        return (x * keep).sum(1) / keep.sum(1)


def padded() -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.randint(1, 20, (8, 12), generator=torch.Generator().manual_seed(1))
    lengths = torch.tensor([12, 11, 10, 9, 5, 4, 4, 3])
    ids[torch.arange(12) >= lengths[:, None]] = 0
    return ids, (ids != 0).long()


@torch.no_grad()
def test_padding_that_enters_a_mean_is_seen_and_one_that_is_masked_is_not() -> None:
    found = padding(asked(Pooled(masked=False), *padded()))
    assert found is not None and found["gap"] > 0.05 and found["told"]
    found = padding(asked(Pooled(masked=True), *padded()))
    assert found is not None and found["gap"] < 1e-5


@torch.no_grad()
def test_nothing_is_asked_about_padding_where_rows_do_not_end_in_it() -> None:
    ids = torch.randint(0, 20, (8, 12), generator=torch.Generator().manual_seed(1))
    assert padding(asked(Pooled(masked=False), ids, torch.ones_like(ids))) is None
    ids[:, -2:] = 19  # every row, the longest too: what ends a sentence
    ids[:, :-2].clamp_(max=18)
    assert padding(asked(Pooled(masked=False), ids, torch.ones_like(ids))) is None


class Positions(nn.Module):
    def __init__(self, axis: int) -> None:
        super().__init__()
        self.axis, self.table = axis, nn.Parameter(torch.randn(32, 6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        count = self.table[: x.size(self.axis)]
        return x + (count[:, None] if self.axis == 0 else count)


class Noisy(nn.Module):
    """Draws in evaluation as well, as a variational auto-encoder does."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.randn_like(x)


@torch.no_grad()
def test_answers_that_depend_on_the_row_are_told_from_those_that_are_drawn() -> None:
    x = torch.randn(8, 5, 6)
    along_batch, along_time = (row(asked(Positions(axis), x)) for axis in (0, 1))
    assert along_batch is not None and along_batch["gap"] > 0.1
    assert along_batch["site"][0].endswith("test_questions.py")
    assert along_time is not None and along_time["gap"] == 0.0
    assert row(asked(Noisy(), x)) is None


class Translator(nn.Module):
    """Sees all of the source, and of the target what its mask leaves."""

    def __init__(self, causal: bool) -> None:
        super().__init__()
        self.causal, self.embed = causal, nn.Embedding(20, 8)
        self.core = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, batch_first=True)
        self.head = nn.Linear(8, 20)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(target.size(1)) if self.causal else None
        return self.head(self.core(self.embed(source), self.embed(target), tgt_mask=mask))


@torch.no_grad()
def test_of_a_translator_only_the_target_must_not_see_its_future() -> None:
    generator = torch.Generator().manual_seed(1)
    for length in (6, 8):  # a source that is as long as the target may be taken for it
        pair = [torch.randint(2, 20, (4, n), generator=generator) for n in (length, 8)]
        masked, bare = (future(asked(Translator(causal), *pair)) for causal in (True, False))
        assert masked is not None and masked["gap"] < 1e-5
        assert bare is not None and bare["gap"] > 1e-3 and bare["site"][1] is not None
