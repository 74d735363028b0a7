"""Batches as people see them: what the page shows is what the model was given."""

from __future__ import annotations

import base64

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from facts_of import facts_of
from paramedic.capture.probes.data.specimens import SIDE, _answers, _labels, _seen
from paramedic.record.facts import Specimens
from paramedic.record.reader import reading
from paramedic.reports.specimens import _samples, _text
from workshop import Workshop

SCRIPT = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Flatten(), nn.Linear(144, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(12):
    y = torch.arange(12) % 3
    x = torch.zeros(12, 1, 12, 12)
    for n, label in enumerate(y.tolist()):
        x[n, 0, 4 * label : 4 * label + 4] = 2.0
    loss = F.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_pictures_with_labels_and_answers_on_the_page(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", SCRIPT)
    done = warm_shop.run("train.py", options=("--html", "report.html"))
    assert done.code == 0, done.stderr
    page = (warm_shop.folder / "report.html").read_text()
    assert "Training batch at step 0" in page and "8 of 12 samples, pictures, input (12, 1, 12, 12)" in page
    assert "black is 0, white 2" in page and "answer 0 ✓" in page, "it has learnt them by the last batch"
    with reading(warm_shop.records()[0].parent) as runs:
        first = next(iter(runs[0].facts(Specimens)))
    pixels = torch.frombuffer(bytearray(base64.b64decode(first.samples[1])), dtype=torch.uint8).view(12, 12)
    assert first.labels[:3] == [0, 1, 2] and (pixels[4:8] == 255).all() and pixels.sum() == 255 * 48


def test_what_is_taken_of_other_inputs() -> None:
    rows = _seen(torch.randn(20, 30))
    assert rows is not None and rows["kind"] == "rows" and len(rows["samples"]) == 8 and len(rows["samples"][0]) == 12
    tokens = _seen(torch.arange(12).view(2, 6))
    assert tokens is not None and tokens["samples"] == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
    large = _seen(torch.full((2, 500, 300, 3), float("nan")))
    assert large is not None and max(large["size"][:2]) <= SIDE and large["size"][2] == 3
    assert _seen(torch.randn(2, 3, 4, 5, 6)) is None, "nobody would recognise it"


def test_labels_and_answers() -> None:
    scores = torch.tensor([[0.1, 0.9], [0.8, 0.2]])
    assert _answers(scores, torch.tensor([1, 1])) == [1.0, 0.0] and _labels(torch.tensor([1, 1])) == [1.0, 1.0]
    assert _labels(torch.tensor([[0.5], [2.0]])) == [0.5, 2.0]
    assert _labels(torch.zeros(2, 7)) == [], "one number stands for a sample, or none"
    assert _answers(torch.tensor([[0.25], [0.5]]), torch.zeros(2, 1)) == [pytest.approx(0.25), pytest.approx(0.5)]


class Reader(nn.Module):
    def __init__(self, rows: int) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(rows, 4), nn.Linear(4, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.embedding(ids).mean(1))


def read_by(net: nn.Module, ids: torch.Tensor, **vocabularies: object) -> Specimens:
    """The first batch, as a loop tells it that has these variables."""

    def step(names: dict[str, object]) -> None:
        F.cross_entropy(net(ids), torch.zeros(len(ids)).long()).backward()
        optimizer.step()

    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    return next(iter(facts_of(lambda: step(dict(vocabularies))).facts(Specimens)))


def test_token_ids_as_text() -> None:
    letters = "abcdefgh"
    ids = torch.tensor([[2, 0, 1], [5, 0, 6]])
    stoi = {letter: number for number, letter in enumerate(letters)}
    itos = dict(enumerate(letters))
    found = read_by(Reader(8), ids, stoi=stoi, itos=itos, letters=list(letters))
    assert found.tokens == [["c", "a", "b"], ["f", "a", "g"]] and found.vocabulary, "several that say the same"
    assert _text(found.tokens[0]) == "cab"
    assert _text(["un", "##able", "to"]) == "unable to" and _text(["Hello", "Ġworld"]) == "Hello world"


def test_ids_stay_ids_where_it_is_not_certain() -> None:
    ids = torch.tensor([[2, 0, 1], [5, 0, 6]])
    assert read_by(Reader(8), ids, one=list("abcdefgh"), two=list("hgfedcba")).tokens == [], "two that disagree"
    assert read_by(Reader(9), ids, names=list("abcdefgh")).tokens == [], "not as many as the embedding has rows"
    assert read_by(Reader(8), ids, same=["x"] * 8).tokens == [], "no table of tokens"


def test_a_tokenizer_of_hugging_face() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {"[UNK]": 0, "the": 1, "cat": 2, "sat": 3}
    fast = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    found = read_by(Reader(6), torch.tensor([[1, 2, 3]]), tokenizer=fast)
    assert found.tokens == [["the", "cat", "sat"]] and found.samples == [[1, 2, 3]]
    wrapped = pytest.importorskip("transformers").PreTrainedTokenizerFast(tokenizer_object=fast)
    assert read_by(Reader(6), torch.tensor([[1, 2, 3]]), tokenizer=wrapped).tokens == [["the", "cat", "sat"]]


class Speaker(nn.Module):
    """A class per token."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(8, 4), nn.Linear(4, 8)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.embedding(ids))


@pytest.mark.parametrize("flat", [True, False])
def test_labels_and_answers_of_every_token(flat: bool) -> None:
    net, letters = Speaker(), list("abcdefgh")
    ids, labels = torch.tensor([[2, 0, 1], [5, 0, 1]]), torch.tensor([[0, 1, 3], [0, 6, -100]])
    with torch.no_grad():
        net.head.weight.zero_()
        net.head.bias.copy_(torch.eye(8)[6])  # the answer is always "g"
    optimizer = torch.optim.SGD(net.parameters(), 0.1)

    def step(vocabulary: list[str]) -> None:
        scores = net(ids)
        loss = F.cross_entropy(scores.flatten(0, 1), labels.flatten()) if flat else None
        (loss if loss is not None else F.cross_entropy(scores.transpose(1, 2), labels)).backward()
        optimizer.step()

    found = next(iter(facts_of(lambda: step(letters)).facts(Specimens)))
    assert found.tokens == [["c", "a", "b"], ["f", "a", "b"]]
    assert found.label_tokens == [["a", "b", "d"], ["a", "g", "·"]]
    assert found.answer_tokens == [["g"] * 3] * 2
    sample = list(_samples(found))[1]
    assert (sample.text, sample.label, sample.answer, sample.mark) == ("fab", "ag·", "ggg", "(1 of 2 right)")
