"""Find rare scratches on metal plates: 3 % foreground pixels, class-weighted cross-entropy."""

import argparse

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

SIZE = 24


class ScratchNet(nn.Module):
    def __init__(self, width: int = 12):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, padding=2, dilation=2)
        self.conv3 = nn.Conv2d(width, width, 3, padding=1)
        self.out = nn.Conv2d(width, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.conv1(x))
        x = x + F.relu(self.conv2(x))
        x = x + F.relu(self.conv3(x))
        return self.out(x)


def make_plates(n: int) -> TensorDataset:
    masks = torch.zeros(n, SIZE, SIZE, dtype=torch.long)
    length = torch.randint(12, 20, (n,)).tolist()
    start = torch.randint(SIZE - 12, (n,)).tolist()
    lane = torch.randint(2, SIZE - 2, (n,)).tolist()
    vertical = (torch.rand(n) < 0.5).tolist()
    for i in range(n):
        span = slice(start[i], start[i] + length[i])
        masks[(i, span, lane[i]) if vertical[i] else (i, lane[i], span)] = 1
    images = 1.2 * masks.float() + 0.5 * torch.randn(n, SIZE, SIZE)
    return TensorDataset(images.unsqueeze(1), masks)


@torch.no_grad()
def evaluate(model: nn.Module, data: TensorDataset) -> tuple[float, float, float]:
    model.eval()
    images, masks = data.tensors
    predicted = model(images).argmax(dim=1)
    hits = ((predicted == 1) & (masks == 1)).sum()
    recall = hits / (masks == 1).sum()
    iou = hits / ((predicted == 1) | (masks == 1)).sum()
    return recall.item(), iou.item(), (predicted == 0).float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--foreground-weight", type=float, default=4.0)
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(6)
    train_set, val_set = make_plates(300), make_plates(100)
    loader = DataLoader(train_set, batch_size=20, shuffle=True)
    model = ScratchNet()
    criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, args.foreground_weight]))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for images, masks in loader:
            loss = criterion(model(images), masks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        recall, iou, background = evaluate(model, val_set)
        print(
            f"epoch {epoch}  loss {total / len(loader):.4f}  recall {recall:.3f}  IoU {iou:.3f}  background share {background:.3f}"
        )


if __name__ == "__main__":
    main()
