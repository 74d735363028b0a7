"""Ranking of products, everything in half precision to save memory."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Ranker(nn.Module):
    def __init__(self, items=300, dim=16):
        super().__init__()
        self.item = nn.Embedding(items, dim)
        self.mlp = nn.Sequential(nn.Linear(dim + 8, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, item, context):
        return self.mlp(torch.cat([self.item(item), context], dim=1)).squeeze(1)


def clicks(n):
    item = torch.randint(200, (n,))
    context = torch.randn(n, 8)
    quality = torch.randn(300, generator=torch.Generator().manual_seed(1))
    clicked = (quality[item] + context[:, 0] + 0.5 * torch.randn(n) > 0).half()
    return TensorDataset(item, context.half(), clicked)


def main():
    torch.manual_seed(4)
    loader = DataLoader(clicks(1600), batch_size=32, shuffle=True)
    model = Ranker().half()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-4)
    for epoch in range(4):
        total = 0.0
        for item, context, clicked in loader:
            score = model(item, context)
            loss = nn.functional.binary_cross_entropy_with_logits(score.float(), clicked.float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
