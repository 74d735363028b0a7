"""Find ellipses in noisy images with a small convolutional segmentation network."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

SIZE = 20


def make_images(n: int) -> TensorDataset:
    """Noisy images of one filled ellipse each, and its mask."""
    axis = torch.linspace(-1, 1, SIZE)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    centre = torch.empty(n, 2, 1, 1).uniform_(-0.5, 0.5)
    radius = torch.empty(n, 2, 1, 1).uniform_(0.25, 0.5)
    distance = ((x - centre[:, 0]) / radius[:, 0]) ** 2 + ((y - centre[:, 1]) / radius[:, 1]) ** 2
    mask = (distance < 1).float().unsqueeze(1)
    return TensorDataset(mask - 0.3 + 0.8 * torch.randn(n, 1, SIZE, SIZE), mask)


class SegNet(nn.Module):
    def __init__(self, width: int = 12):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.middle = nn.Sequential(nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.out = nn.Conv2d(width + 1, 1, 3, padding=1)

    def forward(self, image: Tensor) -> Tensor:
        features = F.relu(self.up(self.middle(self.down(image))))
        return self.out(torch.cat([features, image], dim=1))


class Trainer:
    def __init__(self, model: nn.Module, lr: float, decay_every: int):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=decay_every, gamma=0.2)

    def train_epoch(self, loader: DataLoader) -> float:
        self.model.train()
        total = 0.0
        for image, mask in loader:
            loss = F.binary_cross_entropy_with_logits(self.model(image), mask)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()  # <- PM608
            total += loss.item()
        return total / len(loader)

    @torch.no_grad()
    def iou(self, loader: DataLoader) -> float:
        self.model.eval()
        overlap = union = 0.0
        for image, mask in loader:
            found = self.model(image) > 0
            overlap += (found & (mask > 0)).sum().item()
            union += (found | (mask > 0)).sum().item()
        return overlap / union


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_loader = DataLoader(make_images(600), batch_size=20, shuffle=True)
    val_loader = DataLoader(make_images(100), batch_size=50)
    trainer = Trainer(SegNet(), lr=0.05, decay_every=4)
    for epoch in range(1, 8):
        loss = trainer.train_epoch(train_loader)
        rate = trainer.optimizer.param_groups[0]["lr"]
        print(f"epoch {epoch}: train loss {loss:.4f}  val IoU {trainer.iou(val_loader):.3f}  learning rate {rate:.1e}")


if __name__ == "__main__":
    main()
