"""A small language model on a made-up language, batches drawn by hand."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

rng = np.random.default_rng(0)
table = rng.permutation(40)
text = [3]
for _ in range(20000):
    text.append(int(table[text[-1]]) if rng.random() < 0.9 else int(rng.integers(40)))
text = torch.tensor(text)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding(40, 48), nn.Embedding(32, 48)
        layer = nn.TransformerEncoderLayer(48, 4, 96, dropout=0.1, batch_first=True)
        self.body, self.head = nn.TransformerEncoder(layer, 1), nn.Linear(48, 40)

    def forward(self, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        x = self.embed(ids) + self.place(torch.arange(ids.shape[1]))
        return self.head(self.body(x, mask=mask, is_causal=True))


def batch(size=16, length=32):
    starts = torch.randint(0, len(text) - length - 1, (size,))
    return torch.stack([text[s : s + length] for s in starts]), torch.stack(
        [text[s + 1 : s + length + 1] for s in starts]
    )


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(400):
    x, y = batch()
    loss = F.cross_entropy(model(x).view(-1, 40), y.view(-1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 50 == 0:
        print(step, loss.item())
