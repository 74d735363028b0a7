"""Iris with L-BFGS: the table is sorted by species, and every step sees all of it."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_iris
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

WEIGHT_DECAY = 1e-3


class IrisNet(nn.Module):
    def __init__(self, hidden: int = 8):
        super().__init__()
        self.hidden = nn.Linear(4, hidden)
        self.out = nn.Linear(hidden, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(torch.tanh(self.hidden(x)))


def penalty(model: nn.Module) -> Tensor:
    return sum(p.square().sum() for p in model.parameters() if p.ndim > 1)


torch.set_num_threads(1)
torch.manual_seed(0)
data, species = load_iris(return_X_y=True)
x, y = torch.tensor(data, dtype=torch.float32), torch.tensor(species)
held_out = torch.arange(len(y)) % 5 == 0
x_train, y_train, x_val, y_val = x[~held_out], y[~held_out], x[held_out], y[held_out]
mean, std = x_train.mean(dim=0), x_train.std(dim=0)
x_train, x_val = (x_train - mean) / std, (x_val - mean) / std

full_batch = DataLoader(TensorDataset(x_train, y_train), batch_size=len(y_train), shuffle=False)
model = IrisNet()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=3, history_size=10)

for step in range(40):
    model.train()
    for features, labels in full_batch:

        def closure() -> Tensor:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(features), labels) + WEIGHT_DECAY * penalty(model)
            loss.backward()
            return loss

        loss = optimizer.step(closure)
    if step % 5 == 4:
        model.eval()
        with torch.no_grad():
            accuracy = (model(x_val).argmax(dim=1) == y_val).float().mean()
        print(f"step {step + 1:2d}  loss {loss.item():.4f}  val acc {accuracy:.3f}")
