"""Transfer learning: an encoder trained on the digits 0-4 is kept and gets a new head for 5-9."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    def __init__(self, encoder: nn.Module, classes: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(64, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(x))


def make_encoder() -> nn.Sequential:
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU())


def freeze(module: nn.Module) -> None:
    module.requires_grad = False  # <- PM404


def load_split(first: int, last: int) -> tuple[TensorDataset, TensorDataset]:
    images, labels = load_digits(return_X_y=True)
    chosen = (labels >= first) & (labels <= last)
    x_train, x_valid, y_train, y_valid = train_test_split(
        images[chosen] / 8.0 - 1.0, labels[chosen] - first, test_size=0.25, random_state=0
    )
    return (
        TensorDataset(torch.tensor(x_train, dtype=torch.float32), torch.tensor(y_train)),
        TensorDataset(torch.tensor(x_valid, dtype=torch.float32), torch.tensor(y_valid)),
    )


@torch.no_grad()
def accuracy(model: Classifier, data: TensorDataset) -> float:
    model.eval()
    x, y = data.tensors
    return (model(x).argmax(dim=1) == y).float().mean().item()


def fit(model: Classifier, train: TensorDataset, valid: TensorDataset, epochs: int, lr: float) -> None:
    loader = DataLoader(train, batch_size=32, shuffle=True)
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=lr)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        print(f"  epoch {epoch}: loss {total / len(train):.3f}  valid accuracy {accuracy(model, valid):.3f}")


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    print("source task: digits 0-4")
    source_train, source_valid = load_split(0, 4)
    source = Classifier(make_encoder(), classes=5)
    fit(source, source_train, source_valid, epochs=5, lr=2e-3)

    print("target task: digits 5-9")
    encoder = source.encoder
    freeze(encoder)
    target_train, target_valid = load_split(5, 9)
    fit(Classifier(encoder, classes=5), target_train, target_valid, epochs=6, lr=2e-3)
    print(f"digits 0-4 with the same encoder: valid accuracy {accuracy(source, source_valid):.3f}")


if __name__ == "__main__":
    main()
