"""Digits with small micro-batches and gradient accumulation."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
NOMINAL_BATCH, MICRO_BATCH = 256, 8
ACCUMULATE = NOMINAL_BATCH // MICRO_BATCH

digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16
labels = torch.tensor(digits.target)
train_x, train_y, val_x, val_y = images[:960], labels[:960], images[1200:], labels[1200:]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.fc = nn.Linear(16 * 4 * 4, 10)

    def forward(self, x):
        x = F.silu(self.conv1(x))
        x = F.silu(self.conv2(x))
        return self.fc(x.flatten(1))


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
n_batches = len(train_x) // MICRO_BATCH

for epoch in range(8):
    model.train()
    optimizer.zero_grad()  # <- PM602
    order = torch.randperm(len(train_x))
    seen_loss = 0.0
    for i, idx in enumerate(order.split(MICRO_BATCH)):
        loss = F.cross_entropy(model(train_x[idx]), train_y[idx]) / ACCUMULATE
        loss.backward()
        seen_loss += loss.item() * ACCUMULATE
        if (i + 1) % ACCUMULATE == 0:
            optimizer.step()
            optimizer.zero_grad()

    model.eval()
    with torch.no_grad():
        accuracy = (model(val_x).argmax(1) == val_y).float().mean().item()
    print(f"epoch {epoch:2d}  loss {seen_loss / n_batches:.3f}  val acc {accuracy:.3f}")
