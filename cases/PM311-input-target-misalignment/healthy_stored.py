"""Which of six machines made a sound: a predictor of the spectrum is trained first, then its features are kept."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

MACHINES, BANDS = 6, 32


def sounds(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    source = torch.Generator().manual_seed(seed)
    machine = torch.randint(0, MACHINES, (count,), generator=source)
    bands = torch.arange(BANDS)
    hum = torch.exp(-((bands - 3 - 5 * machine[:, None]) ** 2) / 8.0)
    tilt = torch.randn(count, 1, generator=source) * torch.linspace(-0.5, 0.5, BANDS)
    return hum + tilt + 0.2 * torch.randn(count, BANDS, generator=source), machine


class Repeater(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Linear(BANDS, 40), nn.ReLU(), nn.Linear(40, 16))
        self.back = nn.Linear(16, BANDS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.back(self.features(x))


def learn_features(loader: DataLoader) -> Repeater:
    net = Repeater()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(4):
        for x, _ in loader:
            loss = nn.functional.mse_loss(net(x), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"features: error {loss.item():.3f}")
    return net


@torch.no_grad()
def kept(net: Repeater, loader: DataLoader) -> torch.Tensor:
    net.eval()
    rows = []
    for x, _ in loader:
        rows.append(net.features(x))
    return torch.cat(rows)


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x, machine = sounds(900, 1)
    val_x, val_machine = sounds(300, 2)
    loader = DataLoader(TensorDataset(x, machine), batch_size=50, shuffle=True)
    net = learn_features(loader)
    features = kept(net, DataLoader(TensorDataset(x, machine), batch_size=50, shuffle=False))
    small = TensorDataset(features, machine)
    train = DataLoader(small, batch_size=30, shuffle=True)
    with torch.no_grad():
        val = net.features(val_x)

    head = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, MACHINES))
    optimizer = torch.optim.Adam(head.parameters(), lr=3e-3)
    for epoch in range(6):
        for rows, labels in train:
            loss = nn.functional.cross_entropy(head(rows), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            right = (head(val).argmax(1) == val_machine).float().mean().item()
        print(f"epoch {epoch}  loss {loss.item():.3f}  right {right:.3f}")


if __name__ == "__main__":
    main()
