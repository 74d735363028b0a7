"""Part-of-speech tagging of padded sentences with a bidirectional LSTM."""

import random

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

PAD = 0
TAGS = ["<pad>", "DET", "NOUN", "VERB", "ADJ", "ADV"]
FOLLOWERS = {
    "DET": ["NOUN", "ADJ"],
    "ADJ": ["NOUN", "ADJ"],
    "NOUN": ["VERB", "ADV"],
    "VERB": ["DET", "ADV"],
    "ADV": ["DET", "VERB"],
}
WORDS_PER_TAG, AMBIGUOUS = 30, 20


def make_sentence() -> tuple[Tensor, Tensor]:
    tag, words, tags = "DET", [], []
    for _ in range(random.randint(3, 24)):
        tag_id = TAGS.index(tag)
        ambiguous = random.random() < 0.35
        words.append(
            random.randint(1, AMBIGUOUS)
            if ambiguous
            else AMBIGUOUS + (tag_id - 1) * WORDS_PER_TAG + random.randint(1, WORDS_PER_TAG)
        )
        tags.append(tag_id)
        tag = random.choice(FOLLOWERS[tag])
    return torch.tensor(words), torch.tensor(tags)


def collate(batch: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    words, tags = zip(*batch)
    lengths = torch.tensor([len(w) for w in words])
    return (
        pad_sequence(words, batch_first=True, padding_value=PAD),
        pad_sequence(tags, batch_first=True, padding_value=PAD),
        lengths,
    )


class Tagger(nn.Module):
    def __init__(self, vocab: int, dim: int = 24, hidden: int = 24):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, len(TAGS))

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(self.embed(words), lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.out(states)


@torch.no_grad()
def tag_accuracy(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    hits = count = 0
    for words, tags, lengths in loader:
        real = words != PAD
        hits += (model(words, lengths).argmax(-1) == tags)[real].sum().item()
        count += real.sum().item()
    return hits / count


def main() -> None:
    random.seed(0)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_loader = DataLoader([make_sentence() for _ in range(600)], batch_size=32, shuffle=True, collate_fn=collate)
    val_loader = DataLoader([make_sentence() for _ in range(150)], batch_size=50, collate_fn=collate)

    model = Tagger(vocab=1 + AMBIGUOUS + WORDS_PER_TAG * (len(TAGS) - 1))
    criterion = nn.CrossEntropyLoss(ignore_index=-100)  # <- PM509
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        model.train()
        total = 0.0
        for words, tags, lengths in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(words, lengths).flatten(0, 1), tags.flatten())
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}  loss {total / len(train_loader):.4f}  val tag acc {tag_accuracy(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
