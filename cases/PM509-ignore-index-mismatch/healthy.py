"""Named-entity tagging with a small transformer: tag 0 is the frequent "outside" tag, labels are padded with -100."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD_WORD, IGNORE = 0, -100
OUTSIDE, PERSON, PLACE = 0, 1, 2
TITLES, PREPOSITIONS = range(1, 4), range(4, 7)
NAMES, COMMON = range(7, 47), range(47, 140)


class Sentences(Dataset):
    """A name is a person after a title, a place after a preposition, and outside otherwise."""

    def __init__(self, n: int, seed: int):
        self.rng = torch.Generator().manual_seed(seed)
        self.items = [self.sentence() for _ in range(n)]

    def pick(self, words: range) -> int:
        return words[int(torch.randint(len(words), (1,), generator=self.rng))]

    def sentence(self) -> tuple[Tensor, Tensor]:
        words: list[int] = []
        tags: list[int] = []
        for _ in range(int(torch.randint(3, 10, (1,), generator=self.rng))):
            kind = int(torch.randint(5, (1,), generator=self.rng))
            if kind < 2:
                words += [self.pick(TITLES if kind == 0 else PREPOSITIONS), self.pick(NAMES)]
                tags += [OUTSIDE, PERSON if kind == 0 else PLACE]
            else:
                words += [self.pick(COMMON), self.pick(NAMES if kind == 2 else COMMON)]
                tags += [OUTSIDE, OUTSIDE]
        return torch.tensor(words), torch.tensor(tags)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: int) -> tuple[Tensor, Tensor]:
        return self.items[i]


def collate(batch: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    words, tags = zip(*batch)
    return pad_sequence(words, True, PAD_WORD), pad_sequence(tags, True, IGNORE)


class EntityTagger(nn.Module):
    def __init__(self, vocab: int = 140, dim: int = 32, max_len: int = 20):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=PAD_WORD)
        self.position = nn.Parameter(torch.randn(max_len, dim))
        layer = nn.TransformerEncoderLayer(dim, nhead=4, dim_feedforward=64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.out = nn.Linear(dim, 3)

    def forward(self, words: Tensor) -> Tensor:
        x = self.embed(words) + self.position[: words.shape[1]]
        return self.out(self.encoder(x, src_key_padding_mask=words == PAD_WORD))


@torch.no_grad()
def entity_f1(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    hits = found = wanted = 0
    for words, tags in loader:
        predicted = model(words).argmax(-1).where(tags != IGNORE, OUTSIDE)
        hits += ((predicted == tags) & (tags > OUTSIDE)).sum().item()
        found += (predicted > OUTSIDE).sum().item()
        wanted += (tags > OUTSIDE).sum().item()
    return 2 * hits / (found + wanted)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_loader = DataLoader(Sentences(800, seed=1), batch_size=32, shuffle=True, collate_fn=collate)
    val_loader = DataLoader(Sentences(200, seed=2), batch_size=100, collate_fn=collate)
    model = EntityTagger()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=25)
    for epoch in range(8):
        model.train()
        total = 0.0
        for words, tags in train_loader:
            loss = F.cross_entropy(model(words).transpose(1, 2), tags)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            total += loss.item()
        print(f"epoch {epoch}  loss {total / len(train_loader):.4f}  val entity F1 {entity_f1(model, val_loader):.3f}")
