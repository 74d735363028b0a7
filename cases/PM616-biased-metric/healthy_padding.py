"""Tags for words: padding is left out of the accuracy, by a mask or by what is divided by."""

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

WORDS, TAGS, NONE, EPOCHS = 40, 5, 0, 5


def sentence(source: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    length = int(torch.randint(3, 20, (), generator=source))
    words = torch.randint(1, WORDS, (length,), generator=source)
    before = torch.cat([words[:1], words[:-1]])
    return words, (words + before) % (TAGS - 1) + 1


def together(batch: list[tuple[torch.Tensor, torch.Tensor]]) -> tuple[torch.Tensor, torch.Tensor]:
    words, tags = zip(*batch, strict=True)
    return pad_sequence(words, batch_first=True), pad_sequence(tags, batch_first=True)


class Tagger(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, width, padding_idx=NONE)
        self.reader = nn.GRU(width, 2 * width, batch_first=True)
        self.tags = nn.Linear(2 * width, TAGS)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.tags(self.reader(self.words(words))[0])


@torch.no_grad()
def accuracy(model: Tagger, loader: DataLoader) -> tuple[float, float]:
    model.eval()
    right = total = whole = 0
    for words, tags in loader:
        guess = model(words).argmax(-1)
        real = tags != NONE
        right += (guess == tags)[real].sum().item()
        total += real.sum().item()
        whole += ((guess == tags) | ~real).all(1).sum().item()
    return right / total, whole / len(loader.dataset)


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    source = torch.Generator().manual_seed(1)
    train = DataLoader([sentence(source) for _ in range(600)], batch_size=20, shuffle=True, collate_fn=together)
    val = DataLoader([sentence(source) for _ in range(160)], batch_size=40, collate_fn=together)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    criterion = nn.CrossEntropyLoss(ignore_index=NONE)
    for epoch in range(EPOCHS):
        model.train()
        for words, tags in train:
            loss = criterion(model(words).transpose(1, 2), tags)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        words_right, sentences_right = accuracy(model, val)
        print(f"epoch {epoch}: loss {loss.item():.3f}, words {words_right:.3f}, whole sentences {sentences_right:.3f}")


if __name__ == "__main__":
    main()
