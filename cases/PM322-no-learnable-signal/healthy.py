"""Pictures of waves with a lot of noise."""
# needs: experiments

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


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
            nn.MaxPool2d(2),
        )
        self.head = nn.Linear(32 * 4 * 4, 3)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


torch.manual_seed(0)
y = torch.randint(0, 3, (1200,))
grid = torch.linspace(0, 6.28, 16)
waves = torch.stack(
    [
        torch.sin(grid)[None, :].expand(16, 16),
        torch.sin(grid)[:, None].expand(16, 16),
        torch.sin(grid)[None, :] * torch.sin(grid)[:, None],
    ]
)
x = (waves[y] + 0.8 * torch.randn(1200, 16, 16)).unsqueeze(1)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(6):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
