"""Direct preference optimisation of a tiny language model against a frozen copy of itself."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, LENGTH = 12, 10


class Writer(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed, self.rnn, self.head = nn.Embedding(VOCAB + 1, width), nn.GRU(width, width, batch_first=True), nn.Linear(width, VOCAB)

    def forward(self, tokens):
        start = torch.full((len(tokens), 1), VOCAB)
        return self.head(self.rnn(self.embed(torch.cat([start, tokens[:, :-1]], 1)))[0])

    def log_prob(self, tokens):
        return self(tokens).log_softmax(-1).gather(2, tokens[..., None]).squeeze(2).sum(1)

    @torch.no_grad()
    def write(self, n):
        token, state, out = torch.full((n, 1), VOCAB), None, []
        for _ in range(LENGTH):
            h, state = self.rnn(self.embed(token), state)
            token = torch.multinomial(self.head(h[:, 0]).softmax(-1), 1)
            out.append(token)
        return torch.cat(out, 1)


def walk(n):
    rows = [torch.randint(0, VOCAB, (n,))]
    for _ in range(LENGTH - 1):
        rows.append((rows[-1] + torch.randint(-2, 3, (n,))) % VOCAB)
    return torch.stack(rows, 1)


def taste(tokens):
    """The reader likes ascents."""
    return ((tokens[:, 1:] - tokens[:, :-1]) % VOCAB).le(2).logical_and(tokens[:, 1:] != tokens[:, :-1]).float().sum(1)


torch.manual_seed(16)
torch.set_num_threads(1)
model = Writer()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for _ in range(200):
    tokens = walk(64)
    loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
reference = copy.deepcopy(model).requires_grad_(False).eval()
print(f"pre-trained: loss {loss.item():.3f}, ascents liked {taste(model.write(500)).mean():.2f} of {LENGTH - 1}")

optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(1, 151):
    a, b = reference.write(64), reference.write(64)
    prefer = torch.rand(64) < torch.sigmoid(2 * (taste(a) - taste(b)))
    chosen, rejected = torch.where(prefer[:, None], a, b), torch.where(prefer[:, None], b, a)
    margin = model.log_prob(chosen) - reference.log_prob(chosen) - model.log_prob(rejected) + reference.log_prob(rejected)
    loss = -F.logsigmoid(0.1 * margin).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step} preference loss {loss.item():.3f} ascents liked {taste(model.write(500)).mean():.2f}")
