"""Focal loss on imbalanced tumour data; hand-made batching, gradients dropped by hand after each step."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(3)

data = load_breast_cancer()
malignant = (data.target == 0).astype("float32")
x_train, x_val, y_train, y_val = train_test_split(
    data.data.astype("float32"), malignant, test_size=0.3, stratify=malignant, random_state=0
)
mean, std = x_train.mean(0), x_train.std(0)
x_train, x_val = (torch.from_numpy((x - mean) / std) for x in (x_train, x_val))
y_train, y_val = torch.from_numpy(y_train), torch.from_numpy(y_val)


def focal_loss(logits: torch.Tensor, target: torch.Tensor, gamma: float = 2.0) -> torch.Tensor:
    bce = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    probability_of_truth = torch.exp(-bce)
    return ((1 - probability_of_truth) ** gamma * bce).mean()


model = nn.Sequential(
    nn.Linear(30, 32),
    nn.LayerNorm(32),
    nn.SiLU(),
    nn.Dropout(0.1),
    nn.Linear(32, 16),
    nn.SiLU(),
    nn.Linear(16, 1),
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)

for epoch in range(9):
    model.train()
    losses = []
    for rows in torch.randperm(len(x_train)).split(32):
        loss = focal_loss(model(x_train[rows]).squeeze(1), y_train[rows])
        loss.backward()
        optimizer.step()
        for p in model.parameters():
            p.grad = None
        losses.append(loss.item())

    if (epoch + 1) % 3 == 0:
        model.eval()
        with torch.no_grad():
            logits = model(x_val).squeeze(1)
        predicted = logits > 0
        recall = (predicted & (y_val == 1)).sum() / (y_val == 1).sum()
        accuracy = (predicted == (y_val == 1)).float().mean()
        print(
            f"epoch {epoch + 1}: focal loss {sum(losses) / len(losses):.4f}  "
            f"val {focal_loss(logits, y_val).item():.4f}  accuracy {accuracy:.3f}  recall {recall:.3f}"
        )
