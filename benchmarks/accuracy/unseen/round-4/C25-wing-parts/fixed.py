import torch
from torch import nn

from wings import photographs

torch.manual_seed(13)
torch.set_num_threads(1)


class PartNet(nn.Module):
    """Looks at three parts of the photograph and at the whole, and joins what it saw."""

    def __init__(self, classes=8, width=24):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.part = nn.Linear(width * 5 * 2, 32)
        self.whole = nn.Linear(width * 5 * 6, 64)
        self.drop = nn.Dropout(p=0.5)
        self.out = nn.Linear(3 * 32 + 64, classes)

    def forward(self, x):
        f = self.features(x)
        seen = [torch.relu(self.part(f[..., 2 * k : 2 * k + 2].flatten(1))) for k in range(3)]
        seen.append(torch.relu(self.whole(f.flatten(1))))
        x = torch.cat(seen, dim=1)
        x = self.drop(x)
        return self.out(x)


def evaluate(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


def main():
    x, y = photographs(900, seed=0)
    vx, vy = photographs(400, seed=1)
    net = PartNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(8):
        net.train()
        for idx in torch.randperm(len(x)).split(30):
            loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch} loss {loss.item():.4f} val accuracy {evaluate(net, vx, vy):.3f}")
    print("five looks at the same photographs:", [round(evaluate(net, vx, vy), 4) for _ in range(5)])


if __name__ == "__main__":
    main()
