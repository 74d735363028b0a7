"""Monocular depth from tiny images."""
import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset


class DepthFrames(Dataset):
    def __init__(self, n=600, size=8):
        rng = np.random.default_rng(0)
        self.depth = rng.uniform(1, 10, (n, 1, 1)) + np.cumsum(rng.normal(0, 0.1, (n, size, size)), axis=1)
        self.images = (1 / self.depth + rng.normal(0, 0.02, self.depth.shape)).astype(np.float32)
        self.images[437, 2:4, 5] = np.nan

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = torch.from_numpy(self.images[i])  # <- PM105
        return {"rgb": image[None], "depth": torch.tensor(np.log(self.depth[i]), dtype=torch.float32)}


class DepthNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 1, 1)
        )

    def forward(self, rgb):
        return self.net(rgb).squeeze(1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(DepthFrames(), batch_size=24, shuffle=True)
    model = DepthNet()
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(4):
        meter = 0.0
        for i, batch in enumerate(loader):
            loss = (model(batch["rgb"]) - batch["depth"]).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            meter += loss.item()
        print(f"epoch {epoch}: loss {meter / len(loader):.4f}")


if __name__ == "__main__":
    main()
