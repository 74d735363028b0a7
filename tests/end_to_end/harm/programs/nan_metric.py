"""A metric that has no value in an evaluation which writes down what was predicted."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
calls = []


def predict(x, file):
    calls.append(len(x))
    chosen = model(x).argmax(1)
    for number in chosen:
        file.write(f"{number.item()}\n")
    rare = (chosen == 3).float()
    return rare / rare.sum()


def evaluate():
    model.eval()
    with torch.no_grad(), open("predictions.csv", "a") as file:
        x = torch.randn(64, 8)
        shares = predict(x, file)
        print("share of the fourth class", shares.mean().item())
    model.train()


optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
    if step % 10 == 9:
        evaluate()
print(calls, torch.rand(1).item())
