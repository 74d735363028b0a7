"""Point clouds in voxels: mean-pool the points of each voxel, then classify the scene."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

VOXELS, POINTS = 8, 24


class VoxelMean(nn.Module):
    """Average of the learned weights times features per voxel; empty voxels give zero."""

    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Linear(dim, 1)
        self.value = nn.Linear(dim, 16)

    def forward(self, points, voxel):
        member = nn.functional.one_hot(voxel, VOXELS).float()
        weight = torch.sigmoid(self.weight(points))
        total = torch.einsum("bpv,bpd->bvd", member * weight, self.value(points))
        norm = (member * weight).sum(1).unsqueeze(-1)
        mean = total / torch.where(norm == 0, torch.ones_like(norm), norm)
        return torch.where(norm == 0, torch.zeros_like(mean), mean)


class SceneNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.pool = VoxelMean(4)
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(VOXELS * 16, 32), nn.ReLU(), nn.Linear(32, classes))

    def forward(self, points, voxel):
        return self.head(self.pool(points, voxel))


def scenes(n, crowded):
    y = torch.randint(3, (n,))
    points = torch.randn(n, POINTS, 4) + 0.6 * y.float()[:, None, None]
    voxel = torch.arange(POINTS).remainder(VOXELS).expand(n, POINTS).clone()
    if not crowded:
        voxel[n // 2] = 0
    return TensorDataset(points, voxel, y)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(scenes(600, crowded=False), batch_size=20, shuffle=True)
    model = SceneNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(4):
        total = 0.0
        for points, voxel, y in loader:
            loss = nn.functional.cross_entropy(model(points, voxel), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")
