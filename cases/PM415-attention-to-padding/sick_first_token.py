"""Which of two marks a text holds, read off a learnt first token; the mask says what to read, not what to leave out."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

PAD, WORDS = 0, 30


def make_batch(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    labels = torch.randint(0, 2, (count,))
    texts = [torch.randint(3, WORDS, (int(torch.randint(3, 14, (1,))),)) for _ in range(count)]
    for text, label in zip(texts, labels):
        text[torch.randint(0, len(text), (1,))] = 1 + label
    return pad_sequence(texts, batch_first=True, padding_value=PAD), labels


class Reader(nn.Module):
    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.embed = nn.Embedding(WORDS, width, padding_idx=PAD)
        self.first = nn.Parameter(0.1 * torch.randn(1, 1, width))
        self.encoder = nn.TransformerEncoderLayer(width, 4, 48, dropout=0.0, batch_first=True)
        self.head = nn.Linear(width, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = torch.cat([self.first.expand(len(ids), -1, -1), self.embed(ids)], dim=1)
        mask = F.pad(ids != PAD, (1, 0))  # <- PM415
        return self.head(self.encoder(x, src_key_padding_mask=mask)[:, 0])


torch.set_num_threads(1)
torch.manual_seed(0)
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(1, 61):
    ids, labels = make_batch(32)
    loss = F.cross_entropy(model(ids), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: loss {loss.item():.3f}")
