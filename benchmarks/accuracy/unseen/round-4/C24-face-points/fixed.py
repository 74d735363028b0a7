import numpy as np
import torch
import torch.nn as nn

# ## 1. Faces: two eyes and a mouth, three points to find


def faces(rng, n):
    axis = np.linspace(-1, 1, 14)
    yy, xx = np.meshgrid(axis, axis, indexing="ij")
    imgs, pts = np.zeros((n, 1, 14, 14), np.float32), np.zeros((n, 6), np.float32)
    for i in range(n):
        cx, cy, w = rng.uniform(-0.25, 0.25), rng.uniform(-0.25, 0.25), rng.uniform(0.8, 1.2)
        spots = [(cx - 0.35 * w, cy - 0.3), (cx + 0.35 * w, cy - 0.3), (cx, cy + 0.4 * w)]
        for px, py in spots:
            imgs[i, 0] += np.exp(-((xx - px) ** 2 + (yy - py) ** 2) / 0.03)
        pts[i] = np.array(spots).ravel()
    imgs += 0.1 * rng.standard_normal(imgs.shape).astype(np.float32)
    return torch.from_numpy(imgs), torch.from_numpy(pts)


torch.manual_seed(10)
torch.set_num_threads(1)
rng = np.random.default_rng(10)
train_x, train_y = faces(rng, 800)
test_x, test_y = faces(rng, 200)

# ## 2. The network


class KeypointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.fc1 = nn.Linear(12 * 49, 128)
        self.drop = nn.Dropout(0.5)
        self.fc2 = nn.Linear(128, 6)

    def forward(self, x):
        x = self.conv(x).flatten(1)
        x = self.drop(torch.relu(self.fc1(x)))
        return self.fc2(x)


net = KeypointNet()
criterion = nn.SmoothL1Loss()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)

# ## 3. Training


def sample_output():
    net.eval()
    with torch.no_grad():
        return net(test_x)


for epoch in range(12):
    net.train()
    for idx in torch.randperm(len(train_x)).split(32):
        loss = criterion(net(train_x[idx]), train_y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 3 == 2:
        error = (sample_output() - test_y).pow(2).mean().sqrt().item()
        print(f"epoch {epoch + 1} loss {loss.item():.5f} test rmse {error:.4f}")
