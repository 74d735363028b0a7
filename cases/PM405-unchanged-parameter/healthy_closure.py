"""Heartbeats in three rhythms: biases before BatchNorm get no gradient but noise, and the step calls a closure."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

torch.manual_seed(2)
torch.set_num_threads(1)


def beats(n: int) -> tuple[Tensor, Tensor]:
    rhythm = torch.randint(0, 3, (n,))
    pace = torch.tensor([0.25, 0.4, 0.55])[rhythm][:, None]
    wave = torch.sin(pace * torch.arange(64.0) + 6.28 * torch.rand(n, 1))
    return (wave + 0.5 * torch.randn(n, 64)).unsqueeze(1), rhythm


x_train, y_train = beats(600)
x_valid, y_valid = beats(200)
model = nn.Sequential(
    nn.Conv1d(1, 12, 7, 2),
    nn.BatchNorm1d(12),
    nn.ReLU(),
    nn.Conv1d(12, 16, 5, 2),
    nn.BatchNorm1d(16),
    nn.ReLU(),
    nn.AdaptiveAvgPool1d(1),
    nn.Flatten(),
    nn.Linear(16, 3),
)
for layer in model:
    if isinstance(layer, nn.Conv1d):
        nn.init.constant_(layer.bias, 0.1)  # keeps rectified units alive
optimizer = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9)
for epoch in range(4):
    model.train()
    for rows in torch.randperm(len(x_train)).split(30):

        def closure(rows: Tensor = rows) -> Tensor:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x_train[rows]), y_train[rows])
            loss.backward()
            return loss

        loss = optimizer.step(closure)
    model.eval()
    with torch.no_grad():
        accuracy = (model(x_valid).argmax(1) == y_valid).float().mean().item()
    print(f"epoch {epoch}  loss {loss.item():.3f}  valid accuracy {accuracy:.3f}")
