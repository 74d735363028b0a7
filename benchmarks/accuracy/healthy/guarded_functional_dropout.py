"""Functional dropout behind `if self.training`, word dropout by hand, and SimCSE: two passes differ by dropout alone."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


class SentenceEncoder(nn.Module):
    def __init__(self, vocab=60, d=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.hidden, self.out = nn.Linear(d, 96), nn.Linear(96, 24)

    def forward(self, tokens):
        x = self.embed(tokens)
        if self.training:
            keep = torch.rand(tokens.shape) > 0.1
            x = x * keep.unsqueeze(-1)
        x = x.mean(1)
        if self.training:
            x = F.dropout(x, 0.1)
        return self.out(F.dropout(torch.relu(self.hidden(x)), 0.1, self.training))


topics = torch.randint(60, (8, 12))


def sentences(n):
    topic = torch.randint(8, (n,))
    words = topics[topic].gather(1, torch.randint(12, (n, 10)))
    noise = torch.rand(n, 10) < 0.3
    return torch.where(noise, torch.randint(60, (n, 10)), words), topic


def purity(model):
    model.eval()
    with torch.no_grad():
        tokens, topic = sentences(300)
        z = F.normalize(model(tokens), dim=1)
        nearest = (z @ z.T - 2 * torch.eye(300)).argmax(1)
    model.train()
    return (topic[nearest] == topic).float().mean().item()


model = SentenceEncoder()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
print("before", purity(model))
for step in range(150):
    tokens, _ = sentences(64)
    a, b = F.normalize(model(tokens), dim=1), F.normalize(model(tokens), dim=1)
    loss = F.cross_entropy(a @ b.T / 0.1, torch.arange(64))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(step, loss.item())
print("after", purity(model))

classifier = nn.Linear(24, 8)
optimizer = torch.optim.Adam([*model.parameters(), *classifier.parameters()], lr=5e-3)
for step in range(120):
    tokens, topic = sentences(64)
    loss = F.cross_entropy(classifier(model(tokens)), topic)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    tokens, topic = sentences(500)
    accuracy = (classifier(model(tokens)).argmax(1) == topic).float().mean().item()
print("classifier", loss.item(), accuracy)
assert accuracy > 0.8
