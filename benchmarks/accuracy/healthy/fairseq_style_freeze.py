"""Fine-tune a pretrained encoder; for the first updates it runs under no_grad, then it joins (as in fairseq's wav2vec)."""

import contextlib

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)


def make(n, shift=0.0):
    x = torch.randn(n, 24)
    y = (x[:, :4].sum(1) + 0.5 * x[:, 4] * x[:, 5] + shift > 0).long()
    return x, y


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(24, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU())

    def forward(self, x):
        return self.layers(x)


class Finetuned(nn.Module):
    def __init__(self, encoder, classes, freeze_finetune_updates):
        super().__init__()
        self.encoder = encoder
        self.proj = nn.Linear(64, classes)
        self.freeze_finetune_updates = freeze_finetune_updates
        self.num_updates = 0

    def set_num_updates(self, num_updates):
        self.num_updates = num_updates

    def forward(self, x):
        ft = self.freeze_finetune_updates <= self.num_updates
        with torch.no_grad() if not ft else contextlib.ExitStack():
            features = self.encoder(x)
        return self.proj(features)


# stage 1: pretrain by reconstruction
encoder, decoder = Encoder(), nn.Linear(64, 24)
pretrain = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=2e-3)
for i in range(80):
    x, _ = make(64)
    loss = nn.functional.mse_loss(decoder(encoder(x)), x)
    pretrain.zero_grad()
    loss.backward()
    pretrain.step()
print("reconstruction", loss.item())

# stage 2: fine-tune
model = Finetuned(encoder, 2, freeze_finetune_updates=70)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for update in range(130):
    model.set_num_updates(update)
    x, y = make(64)
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 20 == 0:
        print(update, loss.item())
x, y = make(2000)
with torch.no_grad():
    accuracy = (model(x).argmax(1) == y).float().mean().item()
print("accuracy", accuracy)
assert accuracy > 0.9
