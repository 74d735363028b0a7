"""A transformer encoder with padding masks, evaluated under no_grad (the attention fast path) and inference_mode."""

import torch
from fingerprint import bits, finish
from torch import nn

torch.manual_seed(0)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        self.positions = nn.Parameter(torch.randn(12, 16) * 0.02)
        layer = nn.TransformerEncoderLayer(16, 2, dim_feedforward=32, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.head = nn.Linear(16, 2)

    def forward(self, tokens, padding):
        x = self.encoder(self.embedding(tokens) + self.positions, src_key_padding_mask=padding)
        return self.head(x.masked_fill(padding[..., None], 0.0).sum(1) / (~padding).sum(1, keepdim=True))


def batch():
    tokens = torch.randint(1, 20, (16, 12))
    padding = torch.arange(12)[None] >= torch.randint(4, 13, (16, 1))
    return tokens, padding, ((tokens == 7) & ~padding).any(1).long()


model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
for step in range(30):
    model.train()
    tokens, padding, y = batch()
    loss = nn.functional.cross_entropy(model(tokens, padding), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    bits(loss)
    if step % 5 == 4:
        model.eval()
        tokens, padding, y = batch()
        with torch.no_grad() if step % 2 else torch.inference_mode():
            output = model(tokens, padding)
        bits(output.sum())
        bits((output.argmax(1) == y).float().mean())
        print(output.is_inference())
finish(model)
