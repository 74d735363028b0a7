"""Leaf textures, 5 kinds: flips and brightness jitter for training, the plain image for validation."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, random_split


class RandomFlip:
    def __call__(self, img):
        return img.flip(-1) if torch.rand(()) < 0.5 else img


class Jitter:
    def __init__(self, amount):
        self.amount = amount

    def __call__(self, img):
        return img * (1 + self.amount * (2 * torch.rand(()) - 1))


class Compose:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, img):
        for step in self.steps:
            img = step(img)
        return img


def standardize(img):
    return (img - 0.5) / 0.25


class Leaves(Dataset):
    def __init__(self, n=480, transform=None):
        g = torch.Generator().manual_seed(11)
        self.targets = torch.randint(0, 5, (n,), generator=g)
        xs = torch.linspace(0, 6.28, 16)
        waves = torch.stack([torch.sin((k + 1) * xs)[:, None] * torch.cos((5 - k) * xs)[None] for k in range(5)])
        self.images = 0.5 + 0.2 * waves[self.targets].unsqueeze(1) + 0.15 * torch.randn(n, 1, 16, 16, generator=g)
        self.transform = transform

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, i):
        image = self.images[i]
        if self.transform is not None:
            image = self.transform(image)
        return image, self.targets[i]


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(1, 12, 3, padding=1), nn.Conv2d(12, 24, 3, padding=1)
        self.out = nn.Linear(24 * 4 * 4, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return self.out(x.flatten(1))


torch.manual_seed(3)
train_tf = Compose(RandomFlip(), Jitter(0.3), standardize)
val_tf = Compose(standardize)

data = Leaves(transform=train_tf)
train_set, val_set = random_split(data, [384, 96])
val_set.dataset.transform = val_tf  # <- PM317

loaders = {"train": DataLoader(train_set, 32, shuffle=True), "val": DataLoader(val_set, 48)}
net = Classifier()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(12):
    for phase in ("train", "val"):
        net.train(phase == "train")
        running, right = 0.0, 0
        for images, targets in loaders[phase]:
            with torch.set_grad_enabled(phase == "train"):
                logits = net(images)
                loss = F.cross_entropy(logits, targets)
            if phase == "train":
                opt.zero_grad()
                loss.backward()
                opt.step()
            running += loss.item() * len(targets)
            right += (logits.argmax(1) == targets).sum().item()
        size = len(loaders[phase].dataset)
        if epoch % 3 == 2:
            print(f"{epoch} {phase}: loss {running / size:.4f} acc {right / size:.3f}")
