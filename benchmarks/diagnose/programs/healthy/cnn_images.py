"""Pictures of waves: convolution, BatchNorm, dropout, augmentation and a validation split."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(2),
        )
        self.head = nn.Sequential(nn.Dropout(0.3), nn.Linear(128, 3))

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def main():
    torch.manual_seed(1)
    y = torch.randint(0, 3, (1500,))
    grid = torch.linspace(0, 6.28, 16)
    rows, columns = torch.sin(grid)[None, :].expand(16, 16), torch.sin(grid)[:, None].expand(16, 16)
    waves = torch.stack([rows, columns, rows * columns])
    x = (waves[y] + 0.8 * torch.randn(1500, 16, 16)).unsqueeze(1)
    train, validation = random_split(TensorDataset(x, y), [1200, 300])
    loader, held_out = DataLoader(train, 32, shuffle=True), DataLoader(validation, 100)
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    for epoch in range(6):
        model.train()
        for xb, yb in loader:
            xb = torch.roll(xb, int(torch.randint(-1, 2, (1,))), dims=3)
            loss = nn.functional.cross_entropy(model(xb), yb, label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in held_out)
        print(epoch, loss.item(), right / 300)


main()
