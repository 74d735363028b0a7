"""Predict machine failures (3 % of the shifts) from sensor traces: pos_weight, bf16 autocast, early stopping."""

import copy

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

FAILURE_SHARE, LENGTH, SENSORS = 0.03, 32, 3


def make_traces(n: int) -> TensorDataset:
    failure = (torch.rand(n) < FAILURE_SHARE).float()
    traces = torch.randn(n, SENSORS, LENGTH)
    ramp = torch.linspace(0, 1.4, LENGTH)
    tremor = 0.7 * torch.sin(torch.arange(LENGTH) * 1.5)
    traces[:, 0] += failure[:, None] * ramp
    traces[:, 1] += failure[:, None] * tremor
    return TensorDataset(traces, failure)


class TraceNet(nn.Module):
    def __init__(self, width: int = 16):
        super().__init__()
        self.conv1 = nn.Conv1d(SENSORS, width, 5, padding=2)
        self.conv2 = nn.Conv1d(width, width, 5, padding=2, stride=2)
        self.head = nn.Linear(2 * width, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        return self.head(torch.cat([x.mean(dim=2), x.amax(dim=2)], dim=1)).squeeze(1)


@torch.no_grad()
def evaluate(model: nn.Module, data: TensorDataset) -> tuple[float, float]:
    model.eval()
    traces, failure = data.tensors
    alarm, failure = model(traces) > 0, failure == 1
    recall = (alarm & failure).sum() / failure.sum()
    specificity = (~alarm & ~failure).sum() / (~failure).sum()
    return recall.item(), specificity.item()


def train(model: nn.Module, train_set: TensorDataset, val_set: TensorDataset, max_epochs: int, patience: int) -> None:
    loader = DataLoader(train_set, batch_size=64, shuffle=True)
    failures = train_set.tensors[1].sum()
    criterion = nn.BCEWithLogitsLoss(pos_weight=(len(train_set) - failures) / failures)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
    best, best_state, waited = 0.0, copy.deepcopy(model.state_dict()), 0
    for epoch in range(max_epochs):
        model.train()
        total = 0.0
        for traces, failure in loader:
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = criterion(model(traces), failure)
            loss.backward()
            optimizer.step()
            total += loss.item()
        recall, specificity = evaluate(model, val_set)
        balanced = (recall + specificity) / 2
        print(f"epoch {epoch}  loss {total / len(loader):.4f}  recall {recall:.3f}  specificity {specificity:.3f}")
        if balanced > best:
            best, best_state, waited = balanced, copy.deepcopy(model.state_dict()), 0
        else:
            waited += 1
        if waited == patience:
            print("stopping early")
            break
    model.load_state_dict(best_state)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(3)
    train_set, val_set, test_set = make_traces(3000), make_traces(1000), make_traces(2000)
    model = TraceNet()
    train(model, train_set, val_set, max_epochs=8, patience=3)
    recall, specificity = evaluate(model, test_set)
    print(f"test: recall {recall:.3f}  specificity {specificity:.3f}")
