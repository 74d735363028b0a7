"""Digit and parity from one network, regularised with R-Drop (two dropout passes must agree)."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class TwoHeads(nn.Module):
    """Returns log-probabilities of the digit and the probability that it is odd."""

    def __init__(self, hidden: int = 96):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(64, hidden), nn.ReLU(), nn.Dropout(0.2), nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(0.2)
        )
        self.digit = nn.Linear(hidden, 10)
        self.parity = nn.Linear(hidden, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = self.body(x)
        return F.log_softmax(self.digit(h), dim=1), torch.sigmoid(self.parity(h)).squeeze(1)


def agreement(p: Tensor, q: Tensor) -> Tensor:
    forth = F.kl_div(p, q, reduction="batchmean", log_target=True)
    back = F.kl_div(q, p, reduction="batchmean", log_target=True)
    return 0.5 * (forth + back)


torch.set_num_threads(1)
torch.manual_seed(7)
digits = load_digits()
x_train, x_val, y_train, y_val = (
    torch.from_numpy(part) for part in train_test_split(digits.data / 16, digits.target, test_size=0.25, random_state=7)
)
loader = DataLoader(TensorDataset(x_train.float(), y_train), batch_size=64, shuffle=True)
x_val = x_val.float()

model = TwoHeads()
nll, bce = nn.NLLLoss(), nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(10):
    model.train()
    sums = torch.zeros(3)
    for x, y in loader:
        odd = (y % 2).float()
        digit_a, odd_a = model(x)
        digit_b, odd_b = model(x)
        task = nll(digit_a, y) + nll(digit_b, y)
        parity = bce(odd_a, odd) + bce(odd_b, odd)
        consistency = agreement(digit_a, digit_b)
        loss = 0.5 * (task + parity) + consistency
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sums += torch.stack([task, parity, consistency]).detach()

    model.eval()
    with torch.no_grad():
        log_probs, odd_prob = model(x_val)
    digit_acc = (log_probs.argmax(1) == y_val).float().mean()
    parity_acc = ((odd_prob > 0.5) == (y_val % 2 == 1)).float().mean()
    task, parity, consistency = (sums / len(loader)).tolist()
    print(
        f"epoch {epoch}  nll {task / 2:.4f}  bce {parity / 2:.4f}  kl {consistency:.4f}  "
        f"digit acc {digit_acc:.3f}  parity acc {parity_acc:.3f}"
    )
