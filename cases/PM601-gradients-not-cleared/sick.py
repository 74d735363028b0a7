"""Handwritten digits with a small CNN."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.set_num_threads(1)
torch.manual_seed(0)

digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
labels = torch.tensor(digits.target)
train_set, val_set = random_split(TensorDataset(images, labels), [1500, 297])
train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
val_loader = DataLoader(val_set, batch_size=297)


class DigitNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Dropout(0.2), nn.Linear(32 * 2 * 2, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(x))


model = DigitNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(8):
    model.train()
    total = 0.0
    for x, y in train_loader:
        loss = criterion(model(x), y)
        loss.backward()  # <- PM601
        optimizer.step()
        total += loss.item() * len(y)

    model.eval()
    correct, val_total = 0, 0.0
    with torch.no_grad():
        for x, y in val_loader:
            logits = model(x)
            val_total += criterion(logits, y).item() * len(y)
            correct += (logits.argmax(1) == y).sum().item()
    print(
        f"epoch {epoch + 1}: train loss {total / len(train_set):.3f}  "
        f"val loss {val_total / len(val_set):.3f}  val accuracy {correct / len(val_set):.3f}"
    )
