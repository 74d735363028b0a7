"""Land-cover segmentation with 4 classes; image and annotation come as 8-bit PNG-like arrays."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CLASSES = 4


def to_tensor(array):
    """uint8 HxW or HxWxC -> float CxHxW in [0, 1], like the usual image transform."""
    if array.ndim == 2:
        array = array[:, :, None]
    tensor = torch.from_numpy(np.ascontiguousarray(array.transpose(2, 0, 1)))
    return tensor.float().div(255) if tensor.dtype == torch.uint8 else tensor


class LandCover(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        colours = np.array([[60, 90, 40], [150, 140, 90], [40, 80, 170], [190, 190, 190]])
        self.images, self.annotations = [], []
        for _ in range(n):
            label = np.zeros((24, 24), np.uint8)
            for k in range(1, CLASSES):
                y, x = rng.integers(0, 16, 2)
                label[y:y + 9, x:x + 9] = k
            noisy = colours[label] + rng.normal(0, 25, (24, 24, 3))
            self.images.append(noisy.clip(0, 255).astype(np.uint8))
            self.annotations.append(label)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = to_tensor(self.images[i])
        label = to_tensor(self.annotations[i]).squeeze(0).long()  # <- PM302
        return image, label


class SmallUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU())
        self.mid = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Upsample(scale_factor=2))
        self.head = nn.Conv2d(48, CLASSES, 1)

    def forward(self, x):
        a = self.down(x)
        return self.head(torch.cat([a, self.mid(a)], 1))


def pixel_accuracy(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for image, label in loader:
            prediction = model(image).argmax(1)
            right += (prediction == label).sum().item()
            total += label.numel()
    return right / total


def main():
    torch.manual_seed(0)
    train_loader = DataLoader(LandCover(160, 1), batch_size=16, shuffle=True)
    val_loader = DataLoader(LandCover(40, 2), batch_size=20)
    model = SmallUNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(10):
        model.train()
        for image, label in train_loader:
            loss = criterion(model(image), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f} pixel accuracy {pixel_accuracy(model, val_loader):.4f}")


if __name__ == "__main__":
    main()
