"""Recognise textures, and keep an eye on the feature maps while training."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

KINDS, SIZE = 5, 16


def weave(n: int) -> TensorDataset:
    """Noisy stripe patterns; the kind of texture is the direction of the stripes."""
    kind = torch.randint(KINDS, (n,))
    angle = torch.pi * kind / KINDS + 0.1 * torch.randn(n)
    axis = torch.arange(SIZE, dtype=torch.float32)
    along = angle.cos()[:, None, None] * axis[:, None] + angle.sin()[:, None, None] * axis[None, :]
    stripes = torch.sin(1.3 * along + 6.3 * torch.rand(n, 1, 1))
    return TensorDataset((stripes + 0.7 * torch.randn(n, SIZE, SIZE)).unsqueeze(1), kind)


class ActivationMonitor:
    """Collects what a module puts out, for the statistics at the end of the run."""

    def __init__(self, module: nn.Module):
        self.maps: list[Tensor] = []
        module.register_forward_hook(self.record)

    def record(self, module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        self.maps.append(output.detach())  # <- PM702

    def summary(self) -> str:
        means = torch.stack([maps.mean() for maps in self.maps])
        sparse = torch.stack([(maps == 0).float().mean() for maps in self.maps])
        return f"mean activation {means.mean():.3f}, share of zeros {sparse.mean():.2f}"


class TextureNet(nn.Module):
    def __init__(self, width: int = 24):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, width, 5, padding=2), nn.ReLU())
        self.head = nn.Linear(width, KINDS)

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.features(images).mean(dim=(2, 3)))


@torch.no_grad()
def accuracy(model: nn.Module, data: TensorDataset) -> float:
    model.eval()
    images, kinds = data.tensors
    return (model(images).argmax(dim=1) == kinds).float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader, val_set = DataLoader(weave(1600), batch_size=64, shuffle=True), weave(200)
    model = TextureNet()
    monitor = ActivationMonitor(model.features)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(1, 9):
        model.train()
        total = 0.0
        for images, kinds in loader:
            loss = F.cross_entropy(model(images), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}  train loss {total / len(loader):.3f}  val accuracy {accuracy(model, val_set):.3f}")
    print(monitor.summary())


if __name__ == "__main__":
    main()
