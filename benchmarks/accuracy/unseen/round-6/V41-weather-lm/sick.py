import math

import torch
import torch.nn as nn
import torch.nn.functional as F

WORDS = 20


def diary(n, length, seed):
    g = torch.Generator().manual_seed(seed)
    calm = torch.randint(0, WORDS, (WORDS,), generator=torch.Generator().manual_seed(7))
    seq = torch.randint(0, WORDS, (n, 1), generator=g)
    mood = torch.rand(n, 1, generator=g) < 0.75
    for _ in range(length - 1):
        follow = torch.rand(n, 1, generator=g) < torch.where(mood, 0.98, 0.02)
        nxt = torch.where(follow, calm[seq[:, -1:]], torch.randint(0, WORDS, (n, 1), generator=g))
        seq = torch.cat([seq, nxt], 1)
    return seq


class DiaryLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(WORDS, 32)
        self.gru = nn.GRU(32, 64, batch_first=True)
        self.out = nn.Linear(64, WORDS)

    def forward(self, ids):
        return self.out(self.gru(self.emb(ids))[0])


def lm_loss(model, ids):
    logits = model(ids[:, :-1])
    return F.cross_entropy(logits.reshape(-1, WORDS), ids[:, 1:].reshape(-1))


@torch.no_grad()
def perplexity(model, data, batch_size=2):
    model.eval()
    scores = []
    for ids in data.split(batch_size):
        scores.append(math.exp(lm_loss(model, ids).item()))  # <- PM616
    return sum(scores) / len(scores)


torch.manual_seed(0)
torch.set_num_threads(1)
train, held_out = diary(600, 20, 1), diary(200, 20, 2)
model = DiaryLM()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(12):
    model.train()
    for rows in torch.randperm(len(train)).split(30):
        loss = lm_loss(model, train[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: train loss {loss.item():.3f}  held-out perplexity {perplexity(model, held_out):.2f}")
with torch.no_grad():
    print(f"held-out loss over all sentences {lm_loss(model, held_out).item():.3f}")
