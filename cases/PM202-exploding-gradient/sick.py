"""Recognise the operating state of a pump from its load curve with a recurrent network."""

import argparse

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

STATES = 5


def make_recordings(n: int, length: int) -> TensorDataset:
    """Every state has its own load level; the load swings around it, at a random phase and in noise."""
    state = torch.randint(STATES, (n,))
    level = 0.7 * (state - 2) + 0.1 * torch.randn(n)
    swing = torch.sin(2 * torch.pi * (torch.arange(length) / 12 + torch.rand(n, 1)))
    signal = level[:, None] + 0.3 * swing + 0.3 * torch.randn(n, length)
    return TensorDataset(signal.unsqueeze(-1), state)


class StateClassifier(nn.Module):
    def __init__(self, hidden: int = 64):
        super().__init__()
        self.rnn = nn.RNN(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, STATES)
        nn.init.normal_(self.rnn.weight_hh_l0, std=0.5)

    def forward(self, signal: Tensor) -> Tensor:
        _, last = self.rnn(signal)
        return self.head(last[-1])


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    correct = sum((model(signal).argmax(1) == state).sum().item() for signal, state in loader)
    return correct / len(loader.dataset)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--length", type=int, default=60)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_loader = DataLoader(make_recordings(1280, args.length), batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(make_recordings(320, args.length), batch_size=160)
    model = StateClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for signal, state in train_loader:
            loss = F.cross_entropy(model(signal), state)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(
            f"epoch {epoch}: train loss {total / len(train_loader):.3f}  val accuracy {evaluate(model, val_loader):.3f}"
        )


if __name__ == "__main__":
    main()
