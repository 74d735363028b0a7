"""A fixed-length autoencoder for strings, like ChemVAE: padding is a symbol to be produced, it tells where the string ends."""

import random

import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)
ALPHABET, LENGTH, PAD = " CNO()=1", 12, 0


def molecule():
    parts = [random.choice(["C", "N", "O", "C(C)", "C=O", "C1CC1"]) for _ in range(random.randint(1, 4))]
    return "".join(parts)[:LENGTH]


def encode(texts):
    return torch.tensor([[ALPHABET.index(c) for c in text.ljust(LENGTH)] for text in texts])


class StringAutoencoder(nn.Module):
    def __init__(self, latent=24):
        super().__init__()
        self.embed = nn.Embedding(len(ALPHABET), 16)
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(16 * LENGTH, 128), nn.ReLU(), nn.Linear(128, latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 128), nn.ReLU(), nn.Linear(128, LENGTH * len(ALPHABET)))

    def forward(self, tokens):
        return self.decoder(self.encoder(self.embed(tokens))).view(-1, LENGTH, len(ALPHABET))


def decode(logits):
    return ["".join(ALPHABET[i] for i in row).rstrip() for row in logits.argmax(-1).tolist()]


model = StringAutoencoder()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(250):
    tokens = encode([molecule() for _ in range(64)])
    logits = model(tokens)
    loss = criterion(logits.view(-1, len(ALPHABET)), tokens.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(step, loss.item())
model.eval()
texts = [molecule() for _ in range(200)]
with torch.no_grad():
    right = sum(a == b for a, b in zip(decode(model(encode(texts))), texts))
print("strings right, including their ends", right / 200)
assert right / 200 > 0.7
