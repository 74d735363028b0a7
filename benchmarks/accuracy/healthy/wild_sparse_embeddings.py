"""A factorisation model with sparse embedding gradients (SparseAdam) beside a dense optimizer for the rest."""
import torch
from torch import nn

USERS, ITEMS, RANK = 300, 200, 6


class Taste(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.user = nn.Embedding(USERS, dim, sparse=True)
        self.item = nn.Embedding(ITEMS, dim, sparse=True)
        self.bias = nn.EmbeddingBag(ITEMS, 1, mode="sum", sparse=True)
        self.mix = nn.Linear(dim, dim)
        for e in (self.user, self.item):
            nn.init.normal_(e.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def forward(self, u, i):
        return (self.mix(self.user(u)) * self.item(i)).sum(1) + self.bias(i[:, None]).squeeze(1)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    true_u, true_i = torch.randn(USERS, RANK), torch.randn(ITEMS, RANK)
    liked = (true_u @ true_i.T / RANK**0.5 + 0.3 * torch.randn(USERS, ITEMS)) > 0
    seen = torch.rand(USERS, ITEMS) < 0.35
    u, i = seen.nonzero(as_tuple=True)
    vu, vi = (~seen).nonzero(as_tuple=True)
    model = Taste()
    sparse = torch.optim.SparseAdam([model.user.weight, model.item.weight, model.bias.weight], lr=1e-2)
    dense = torch.optim.Adam(model.mix.parameters(), lr=3e-3)
    for epoch in range(7):
        total = 0.0
        for idx in torch.randperm(len(u)).split(256):
            y = liked[u[idx], i[idx]].float()
            loss = nn.functional.binary_cross_entropy_with_logits(model(u[idx], i[idx]), y)
            sparse.zero_grad()
            dense.zero_grad()
            loss.backward()
            sparse.step()
            dense.step()
            total += loss.item() * len(idx)
        with torch.no_grad():
            acc = ((model(vu, vi) > 0) == liked[vu, vi]).float().mean()
        print(f"epoch {epoch + 1} loss {total / len(u):.4f} accuracy on unseen pairs {acc:.3f}")


if __name__ == "__main__":
    main()
