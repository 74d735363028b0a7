"""Some numbers of the evaluation do not exist: no sample of a class, a correlation with a constant, exp of a lot."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.randn(400, 6)
y = x[:, :3].argmax(1)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)


@torch.no_grad()
def evaluate():
    model.eval()
    logits = model(x[300:])
    hits = (logits.argmax(1) == y[300:]).float()
    by_class = [hits[y[300:] == c].mean().item() for c in range(4)]  # nobody is of class 3
    confidence, constant = logits.softmax(1).amax(1), torch.ones(100)
    covariance = ((confidence - confidence.mean()) * (constant - constant.mean())).mean()
    correlation = covariance / (confidence.std() * constant.std())
    perplexity = torch.exp(200 * F.cross_entropy(logits, y[300:]))
    model.train()
    return by_class, correlation.item(), perplexity.item(), float(torch.log(hits.min()))


for step in range(80):
    pick = torch.randint(0, 300, (32,))
    loss = F.cross_entropy(model(x[pick]), y[pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, *evaluate())
