import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class WindowMixer(nn.Module):
    """Splits an image into row windows and lets the pixels of a window look at each other."""

    def __init__(self, dim, heads, rows):
        super().__init__()
        self.rows = rows
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        b, c, h, w = x.shape
        t = x.view(b, c, h // self.rows, self.rows, w).permute(0, 2, 3, 4, 1)
        t = t.reshape(b * (h // self.rows), self.rows * w, c)
        n = self.norm1(t)
        t = t + self.attn(n, n, n, need_weights=False)[0]
        t = t + self.mlp(self.norm2(t))
        t = t.view(b, h // self.rows, self.rows, w, c).permute(0, 4, 1, 2, 3)
        return t.reshape(b, c, h, w)


class Net(nn.Module):
    def __init__(self, symbols, dim=32):
        super().__init__()
        self.embed = nn.Embedding(symbols, dim)
        self.place = nn.Parameter(0.02 * torch.randn(1, dim, 4, 4))
        self.mix = WindowMixer(dim, 4, rows=4)
        self.out = nn.Linear(dim, 1)

    def forward(self, grid):
        x = self.embed(grid).permute(0, 3, 1, 2) + self.place
        x = self.mix(x)
        return self.out(x.amax((2, 3))).squeeze(1)


def cards(n, symbols, gen):
    """A 4 x 4 table of cards: does the symbol in the corner lie a second time on the table?"""
    grid = torch.stack([torch.randperm(symbols, generator=gen)[:16] for _ in range(n)])
    y = torch.randint(0, 2, (n,), generator=gen)
    where = torch.randint(1, 16, (n,), generator=gen)
    rows = torch.arange(n)[y == 1]
    grid[rows, where[y == 1]] = grid[rows, 0]
    return grid.view(n, 4, 4), y.float()


def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    gen = torch.Generator().manual_seed(2)
    symbols = 24
    train = DataLoader(TensorDataset(*cards(3000, symbols, gen)), batch_size=50, shuffle=True, generator=gen)
    val = DataLoader(TensorDataset(*cards(600, symbols, gen)), batch_size=100)
    net = Net(symbols)
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    loss_fn = nn.BCEWithLogitsLoss()
    for epoch in range(10):
        net.train()
        for grid, y in train:
            loss = loss_fn(net(grid), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            acc = torch.cat([(net(g) > 0) == (y > 0.5) for g, y in val]).float().mean()
        print(f"epoch {epoch} loss {loss.item():.4f} val accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
