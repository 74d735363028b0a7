"""Pose-like regression from small RGB crops with a torchvision-style transform."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ToTensor:
    """HWC array to CHW tensor; uint8 is rescaled to [0, 1], as in torchvision."""

    def __call__(self, img):
        tensor = torch.from_numpy(np.ascontiguousarray(img.transpose(2, 0, 1)))
        return tensor.float().div(255) if tensor.dtype == torch.uint8 else tensor


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = torch.tensor(mean).view(3, 1, 1), torch.tensor(std).view(3, 1, 1)

    def __call__(self, tensor):
        return (tensor - self.mean) / self.std


class Crops(Dataset):
    def __init__(self, n, transform, seed=0):
        rng = np.random.default_rng(seed)
        self.transform = transform
        self.center = rng.integers(3, 13, (n, 2))
        self.images = rng.integers(0, 90, (n, 16, 16, 3)).astype(np.uint8)
        for image, (y, x) in zip(self.images, self.center):
            image[y - 2:y + 3, x - 2:x + 3] = (240, 60, 60)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = self.images[i]
        for t in self.transform:
            image = t(image)
        return image, torch.tensor(self.center[i] / 16, dtype=torch.float32)


class PoseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 12, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.ReLU()
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(24 * 16, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, x):
        return self.head(self.backbone(x))


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    transform = [ToTensor(), Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])]
    loader = DataLoader(Crops(480, transform), batch_size=24, shuffle=True)
    model = PoseNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(6):
        losses = []
        for image, joint in loader:
            loss = (model(image) - joint).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {np.mean(losses):.4f}")
