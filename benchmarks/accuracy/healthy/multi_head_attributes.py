"""Five attributes, five heads, one line for all losses; every attribute has its own favourite value."""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
ATTRIBUTES, VALUES, FEATURES = 5, 5, 20
prototypes = torch.randn(ATTRIBUTES, VALUES, FEATURES)
prior = torch.full((ATTRIBUTES, VALUES), 0.05)
prior[torch.arange(5), torch.arange(5)] = 0.8  # attribute i is mostly of value i


def items(n):
    labels = torch.multinomial(prior, n, replacement=True)  # (attributes, n)
    x = sum(prototypes[i, labels[i]] for i in range(ATTRIBUTES))
    return x + 0.3 * torch.randn(n, FEATURES), labels


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(FEATURES, 96), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(96, VALUES) for _ in range(ATTRIBUTES))

    def forward(self, x):
        h = self.body(x)
        return [head(h) for head in self.heads]


model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(300):
    x, labels = items(48)
    loss = sum(F.cross_entropy(logits, label) for logits, label in zip(model(x), labels)) / ATTRIBUTES
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(step, loss.item())
model.eval()
with torch.no_grad():
    x, labels = items(1000)
    guesses = torch.stack([logits.argmax(1) for logits in model(x)])
rare = labels != torch.arange(5).unsqueeze(1)
print(
    "accuracy",
    (guesses == labels).float().mean().item(),
    "on rare values",
    (guesses == labels)[rare].float().mean().item(),
)
assert (guesses == labels)[rare].float().mean() > 0.7
