"""A one-object detector: where is the bright square, and which class is it?"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

NAMES = ["square"]
SIZE = 16


class Squares(Dataset):
    def __init__(self, length, seed):
        g = torch.Generator().manual_seed(seed)
        self.corner = torch.randint(0, SIZE - 6, (length, 2), generator=g)
        self.extent = torch.randint(3, 6, (length, 2), generator=g)
        self.noise = 0.1 * torch.randn(length, 1, SIZE, SIZE, generator=g)

    def __len__(self):
        return len(self.corner)

    def __getitem__(self, i):
        image = self.noise[i].clone()
        (y, x), (h, w) = self.corner[i].tolist(), self.extent[i].tolist()
        image[0, y:y + h, x:x + w] += 1.0
        box = torch.tensor([x + w / 2, y + h / 2, w, h]) / SIZE
        return image, box, torch.tensor(0)


class TinyDetector(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.LeakyReLU(0.1),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.LeakyReLU(0.1), nn.Flatten(),
            nn.Linear(256, 64), nn.LeakyReLU(0.1),
        )
        self.box_head = nn.Linear(64, 4)

    def forward(self, images):
        features = self.backbone(images)
        return self.box_head(features)


def compute_loss(outputs, boxes, classes, gains):
    lbox = nn.functional.mse_loss(outputs, boxes)
    return gains["box"] * lbox, torch.stack([lbox]).detach()


def train(epochs=6):
    loader = DataLoader(Squares(800, seed=0), batch_size=32, shuffle=True)
    model = TinyDetector(len(NAMES))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        mean_loss = 0
        for i, (images, boxes, classes) in enumerate(loader):
            loss, items = compute_loss(model(images), boxes, classes, {"box": 5.0, "cls": 0.5})
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            mean_loss = (mean_loss * i + items) / (i + 1)
        print(epoch, [f"{v:.5f}" for v in mean_loss.tolist()])


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train()
