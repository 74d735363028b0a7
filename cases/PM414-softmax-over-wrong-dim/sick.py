"""Classify token sequences by the symbol that follows a marker: a GRU with attention pooling."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES, MARKER, LENGTH = 8, 8, 20


class AttentionClassifier(nn.Module):
    def __init__(self, hidden: int = 32) -> None:
        super().__init__()
        self.embed = nn.Embedding(CLASSES + 1, 16)
        self.gru = nn.GRU(16, hidden, batch_first=True)
        self.score = nn.Sequential(nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        self.output = nn.Linear(hidden, CLASSES)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        states, _ = self.gru(self.embed(tokens))
        scores = self.score(states).squeeze(-1)
        weights = F.softmax(scores, dim=0)  # <- PM414
        pooled = (weights.unsqueeze(-1) * states).sum(dim=1)
        return self.output(pooled)


def make_dataset(count: int) -> TensorDataset:
    tokens = torch.randint(CLASSES, (count, LENGTH))
    places = torch.randint(LENGTH - 1, (count,))
    rows = torch.arange(count)
    tokens[rows, places] = MARKER
    return TensorDataset(tokens, tokens[rows, places + 1])


def evaluate(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    correct = 0
    with torch.no_grad():
        for tokens, labels in loader:
            correct += (model(tokens).argmax(dim=1) == labels).sum().item()
    return correct / len(loader.dataset)


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train_loader = DataLoader(make_dataset(2400), batch_size=40, shuffle=True)
    valid_loader = DataLoader(make_dataset(200), batch_size=1)
    model = AttentionClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

    for epoch in range(5):
        model.train()
        total = 0.0
        for tokens, labels in train_loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(tokens), labels)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
        mean_loss = total / len(train_loader.dataset)
        print(f"epoch {epoch}: loss {mean_loss:.3f}  valid accuracy {evaluate(model, valid_loader):.3f}")


if __name__ == "__main__":
    main()
