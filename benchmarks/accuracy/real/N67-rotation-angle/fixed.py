"""Head pose: regress a rotation matrix from landmarks, loss is the geodesic angle."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def gram_schmidt(six):
    a, b = six[:, :3], six[:, 3:]
    x = nn.functional.normalize(a, dim=1)
    y = nn.functional.normalize(b - (x * b).sum(1, keepdim=True) * x, dim=1)
    return torch.stack([x, y, torch.linalg.cross(x, y)], dim=2)


def rotations(n):
    return gram_schmidt(torch.randn(n, 6))


class PoseNet(nn.Module):
    def __init__(self, landmarks=5):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3 * landmarks, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 6))

    def forward(self, x):
        return gram_schmidt(self.layers(x.flatten(1)))


def geodesic(predicted, truth):
    relative = predicted @ truth.transpose(1, 2)
    trace = relative.diagonal(dim1=1, dim2=2).sum(-1)
    cosine = ((trace - 1) / 2).clamp(-1.0 + 1e-6, 1.0 - 1e-6)
    return torch.acos(cosine).mean()


def main():
    torch.manual_seed(3)
    shape = torch.randn(5, 3)
    turn = rotations(1500)
    points = torch.einsum("nij,lj->nli", turn, shape)
    loader = DataLoader(TensorDataset(points, turn), batch_size=30, shuffle=True)
    model = PoseNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 25 * len(loader), eta_min=1e-5)
    for epoch in range(25):
        total = 0.0
        for x, r in loader:
            loss = geodesic(model(x), r)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        if epoch % 4 == 0:
            print(f"epoch {epoch} angle {total / len(loader):.4f} rad")


if __name__ == "__main__":
    main()
