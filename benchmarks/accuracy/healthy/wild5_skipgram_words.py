"""Word vectors by skip-gram with negative samples; two tables with sparse gradients, no labels at all."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

TOPICS, PER_TOPIC = 8, 25
WORDS = TOPICS * PER_TOPIC


def text(length, rng):
    topic, words = rng.integers(TOPICS), []
    for _ in range(length):
        if rng.random() < 0.08:
            topic = rng.integers(TOPICS)
        common = rng.random() < 0.25
        words.append(rng.integers(WORDS) if common else topic * PER_TOPIC + rng.integers(PER_TOPIC))
    return np.array(words)


class SkipGram(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.centre = nn.Embedding(WORDS, width, sparse=True)
        self.context = nn.Embedding(WORDS, width, sparse=True)
        nn.init.uniform_(self.centre.weight, -0.5 / width, 0.5 / width)
        nn.init.zeros_(self.context.weight)

    def forward(self, centre, context, negative):
        c = self.centre(centre)
        near = (c * self.context(context)).sum(-1)
        far = torch.einsum("bd,bkd->bk", c, self.context(negative))
        return -(F.logsigmoid(near) + F.logsigmoid(-far).sum(1)).mean()


def neighbours_agree(model):
    v = F.normalize(model.centre.weight.detach())
    near = (v @ v.T).fill_diagonal_(-1).topk(5, dim=1).indices
    return (near // PER_TOPIC == torch.arange(WORDS)[:, None] // PER_TOPIC).float().mean().item()


rng = np.random.default_rng(12)
torch.manual_seed(12)
torch.set_num_threads(1)
stream = torch.from_numpy(text(30000, rng))
model = SkipGram()
optimizer = torch.optim.SparseAdam(model.parameters(), lr=0.02)
print(f"neighbours of the same topic before {neighbours_agree(model):.3f} (chance {1 / TOPICS:.3f})")
for step in range(1, 401):
    place = torch.randint(3, len(stream) - 3, (256,))
    shift = torch.randint(1, 4, (256,)) * (2 * torch.randint(0, 2, (256,)) - 1)
    loss = model(stream[place], stream[place + shift], torch.randint(0, WORDS, (256, 5)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step} loss {loss.item():.3f} neighbours of the same topic {neighbours_agree(model):.3f}")
