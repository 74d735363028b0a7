"""Small-image classification with random flips and noise, split into training and validation."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset


class Digits(Dataset):
    def __init__(self, transform=None):
        bunch = load_digits()
        self.images = torch.tensor(bunch.images, dtype=torch.float32).unsqueeze(1) / 16
        self.targets = torch.tensor(bunch.target)
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = self.images[i]
        if self.transform is not None:
            image = self.transform(image)
        return image, self.targets[i]


def augment(image):
    shift = torch.randint(-1, 2, (2,)).tolist()
    image = torch.roll(image, shift, dims=(1, 2))
    return image + 0.3 * torch.randn_like(image)


class DenseBlock(nn.Module):
    def __init__(self, channels, growth):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, growth, 3, padding=1)
        self.conv2 = nn.Conv2d(channels + growth, growth, 3, padding=1)

    def forward(self, x):
        x = torch.cat([x, torch.relu(self.conv1(x))], 1)
        return torch.cat([x, torch.relu(self.conv2(x))], 1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_set = Digits(transform=augment)
    indices = torch.randperm(len(train_set)).tolist()
    train = Subset(train_set, indices[:1400])
    valid = Subset(Digits(transform=None), indices[1400:])
    train_loader = DataLoader(train, batch_size=70, shuffle=True)
    valid_loader = DataLoader(valid, batch_size=200)
    model = nn.Sequential(DenseBlock(1, 8), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(17 * 16, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(5):
        model.train()
        for x, y in train_loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        error = 0
        with torch.no_grad():
            for x, y in valid_loader:
                error += (model(x).argmax(1) != y).sum().item()
        print(f"epoch {epoch} loss {loss.item():.4f} valid error {error / len(valid):.4f}")


if __name__ == "__main__":
    main()
