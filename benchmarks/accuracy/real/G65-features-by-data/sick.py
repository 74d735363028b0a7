"""Two-tower recommender: user features pass a shared normaliser."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Clicks(Dataset):
    def __init__(self, n=3000, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.users = torch.randn(n, 12, generator=g)
        self.items = torch.randn(n, 10, generator=g)
        mixer = torch.randn(12, 10, generator=torch.Generator().manual_seed(42)) * 0.35
        score = ((self.users @ mixer) * self.items).sum(1)
        self.clicked = (torch.sigmoid(2 * score) > torch.rand(n, generator=g)).float()

    def __len__(self):
        return len(self.clicked)

    def __getitem__(self, i):
        return {"user": self.users[i], "item": self.items[i], "clicked": self.clicked[i]}


class Tower(nn.Module):
    def __init__(self, n_in, n_out=16):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_in, 48), nn.ReLU(), nn.Linear(48, n_out))

    def forward(self, x):
        return self.layers(x)


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item = Tower(12), Tower(10)
        self.bias = nn.Parameter(torch.zeros(1))

    @staticmethod
    def unit(v):
        return v / v.norm(dim=1, keepdim=True).clamp(min=1e-6)

    def forward(self, batch):
        u = self.unit(self.user(batch["user"]).data)  # <- PM403
        i = self.unit(self.item(batch["item"]))
        return 5.0 * (u * i).sum(1) + self.bias


def main():
    torch.manual_seed(0)
    model = TwoTower()
    loader = DataLoader(Clicks(), batch_size=64, shuffle=True)
    held = DataLoader(Clicks(600, 1), batch_size=200)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(6):
        model.train()
        for batch in loader:
            loss = criterion(model(batch), batch["clicked"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = sum(((model(b) > 0).float() == b["clicked"]).sum().item() for b in held)
        print(f"epoch {epoch}: loss {loss.item():.4f} accuracy {right / 600:.3f}")


if __name__ == "__main__":
    main()
