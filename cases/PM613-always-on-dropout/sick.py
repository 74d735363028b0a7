"""Click prediction with an attentional factorisation machine on categorical fields."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

FIELDS = [12, 10, 8, 15]


def make_clicks(count: int) -> TensorDataset:
    """Clicks depend on how well hidden traits of the field values match each other."""
    values = torch.stack([torch.randint(size, (count,)) for size in FIELDS], dim=1)
    traits = [torch.randn(size, 2) for size in FIELDS]
    a, b, c, d = (trait[values[:, i]] for i, trait in enumerate(traits))
    score = 4 * ((a * b).sum(1) + (c * d).sum(1) + 0.5 * a[:, 0])
    return TensorDataset(values, torch.bernoulli(torch.sigmoid(score)))


class AttentionalFM(nn.Module):
    def __init__(self, width: int = 12, dropout: float = 0.5) -> None:
        super().__init__()
        offsets = torch.tensor([0, *FIELDS[:-1]]).cumsum(0)
        self.register_buffer("offsets", offsets)
        self.embed = nn.Embedding(sum(FIELDS), width)
        self.linear = nn.Embedding(sum(FIELDS), 1)
        self.bias = nn.Parameter(torch.zeros(1))
        self.attention = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
        self.project = nn.Linear(width, 1)
        self.dropout = dropout
        self.register_buffer("pairs", torch.combinations(torch.arange(len(FIELDS))))
        nn.init.normal_(self.embed.weight, std=0.3)
        nn.init.zeros_(self.linear.weight)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        ids = values + self.offsets
        vectors = self.embed(ids)
        products = vectors[:, self.pairs[:, 0]] * vectors[:, self.pairs[:, 1]]
        weights = F.softmax(self.attention(products), dim=1)
        pooled = (weights * products).sum(1)
        pooled = F.dropout(pooled, self.dropout)  # <- PM613
        return (self.linear(ids).sum(1) + self.project(pooled)).squeeze(1) + self.bias


def train_epoch(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    total, count = 0.0, 0
    for values, click in loader:
        loss = F.binary_cross_entropy_with_logits(model(values), click)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(click)
        count += len(click)
    return total / count


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader) -> tuple[float, float]:
    model.eval()
    logits, clicks = (torch.cat(part) for part in zip(*[(model(values), click) for values, click in loader]))
    accuracy = ((logits > 0) == (clicks > 0.5)).float().mean().item()
    return F.binary_cross_entropy_with_logits(logits, clicks).item(), accuracy


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_set, val_set = random_split(make_clicks(5000), [4000, 1000])
    train_loader = DataLoader(train_set, batch_size=100, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=500)
    model = AttentionalFM()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(1, 9):
        loss = train_epoch(model, train_loader, optimizer)
        val_loss, accuracy = evaluate(model, val_loader)
        print(f"epoch {epoch}: train loss {loss:.3f}  val loss {val_loss:.3f}  val accuracy {accuracy:.3f}")
    print("same weights evaluated again: loss {:.3f}, accuracy {:.3f}".format(*evaluate(model, val_loader)))
