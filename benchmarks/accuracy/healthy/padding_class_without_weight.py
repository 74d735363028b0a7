"""Tags of padded sentences: the padding's class has a weight of zero instead of being named as ignore_index."""

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(6)
PAD, WORDS, TAGS, LONGEST = 0, 30, 5, 14


def batch(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    lengths = torch.randint(4, LONGEST + 1, (size,))
    words = torch.randint(1, WORDS, (size, LONGEST))
    before = torch.roll(words, 1, 1)
    tags = 1 + (words + (before > 15)) % (TAGS - 1)
    padding = torch.arange(LONGEST) >= lengths[:, None]
    return words.masked_fill(padding, PAD), tags.masked_fill(padding, PAD)


class Tagger(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, width, padding_idx=PAD)
        self.reader = nn.GRU(width, width, batch_first=True)
        self.to_tags = nn.Linear(width, TAGS)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.to_tags(self.reader(self.embedding(words))[0])


weights = torch.ones(TAGS)
weights[PAD] = 0.0
criterion = nn.CrossEntropyLoss(weight=weights)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(1, 161):
    words, tags = batch(32)
    loss = criterion(model(words).flatten(0, 1), tags.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        with torch.no_grad():
            words, tags = batch(128)
            right = (model(words).argmax(-1) == tags)[words != PAD].float().mean().item()
        print(f"step {step} loss {loss.item():.3f} tags right {right:.3f}")
