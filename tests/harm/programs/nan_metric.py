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
    out = model(x)
    for row in out:
        file.write(f"{row.argmax().item()}\n")
    return out


def evaluate():
    model.eval()
    with torch.no_grad(), open("predictions.csv", "a") as file:
        x = torch.randn(64, 8)
        out = predict(x, file)
        right = out.argmax(1) == x[:, :3].argmax(1)
        among = right[right & ~right].float().mean()
        print("accuracy", right.float().mean().item(), "among none", among.item())
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
