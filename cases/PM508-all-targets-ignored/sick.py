"""Digits with an auxiliary head that counts closed loops; few training samples carry a loop annotation."""

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

LOOPS_OF_DIGIT = torch.tensor([1, 0, 0, 0, 0, 0, 1, 0, 2, 1])
UNLABELLED = -1
ANNOTATED_SHARE = 0.12


class TwoTaskNet(nn.Module):
    def __init__(self, hidden: int = 64):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(64, hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.digit_head = nn.Linear(hidden, 10)
        self.loop_head = nn.Linear(hidden, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        features = self.encoder(x)
        return self.digit_head(features), self.loop_head(features)


def load_data() -> tuple[TensorDataset, TensorDataset]:
    """The validation part is fully annotated, the training part sparsely."""
    digits = load_digits()
    pixels = torch.tensor(digits.data / 16, dtype=torch.float32)
    digit = torch.tensor(digits.target)
    loops = LOOPS_OF_DIGIT[digit]
    annotated = torch.rand(len(loops)) < ANNOTATED_SHARE
    known_loops = torch.where(annotated, loops, UNLABELLED)
    train, val = torch.randperm(len(digit)).split([1300, len(digit) - 1300])
    return (
        TensorDataset(pixels[train], digit[train], known_loops[train]),
        TensorDataset(pixels[val], digit[val], loops[val]),
    )


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader) -> tuple[float, float]:
    model.eval()
    digit_hits = loop_hits = 0
    for pixels, digit, loops in loader:
        digit_logits, loop_logits = model(pixels)
        digit_hits += (digit_logits.argmax(1) == digit).sum().item()
        loop_hits += (loop_logits.argmax(1) == loops).sum().item()
    n = len(loader.dataset)
    return digit_hits / n, loop_hits / n


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_set, val_set = load_data()
    train_loader = DataLoader(train_set, batch_size=16, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=250)

    model = TwoTaskNet()
    digit_criterion = nn.CrossEntropyLoss()
    loop_criterion = nn.CrossEntropyLoss(ignore_index=UNLABELLED)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

    for epoch in range(6):
        model.train()
        total = 0.0
        for pixels, digit, loops in train_loader:
            digit_logits, loop_logits = model(pixels)
            digit_loss = digit_criterion(digit_logits, digit)
            loop_loss = loop_criterion(loop_logits, loops)  # <- PM508
            loss = digit_loss + loop_loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        digit_acc, loop_acc = evaluate(model, val_loader)
        print(
            f"epoch {epoch}  loss {total / len(train_loader):.4f}  digit acc {digit_acc:.3f}  loop acc {loop_acc:.3f}"
        )


if __name__ == "__main__":
    main()
