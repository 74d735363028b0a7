"""Sort leaves into five species by outline features; the network answers with one number per species."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

SPECIES = 5


def leaves(n: int) -> TensorDataset:
    species = torch.randint(0, SPECIES, (n,))
    centres = torch.randn(SPECIES, 12)
    return TensorDataset(centres[species] + 0.6 * torch.randn(n, 12), species)


def main() -> None:
    torch.manual_seed(0)
    train, val = random_split(leaves(1200), [1000, 200])
    model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, SPECIES))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(6):
        model.train()
        for outline, species in DataLoader(train, batch_size=50, shuffle=True):
            scores = model(outline)
            loss = F.mse_loss(scores[:, 0], species.float())  # <- PM514
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        hits = 0
        with torch.no_grad():
            for outline, species in DataLoader(val, batch_size=100):
                hits += int((model(outline).argmax(dim=1) == species).sum())
        print(f"epoch {epoch}: loss {loss.item():.3f}  accuracy {hits / len(val):.2f}")


if __name__ == "__main__":
    main()
