"""Benign or malignant? A small network on the Wisconsin breast cancer table."""

import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(42)
table, benign = load_breast_cancer(return_X_y=True)
x_train, x_val, y_train, y_val = train_test_split(table, benign, test_size=0.25, stratify=benign, random_state=0)
mean, std = x_train.mean(axis=0), x_train.std(axis=0)
x_train = torch.tensor((x_train - mean) / std, dtype=torch.float32)
x_val = torch.tensor((x_val - mean) / std, dtype=torch.float32)
y_train = torch.tensor(y_train, dtype=torch.float32).unsqueeze(1)
y_val = torch.tensor(y_val, dtype=torch.float32).unsqueeze(1)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=32, shuffle=True)

model = nn.Sequential(
    nn.Linear(30, 32),
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Linear(32, 16),
    nn.ReLU(),
    nn.Linear(16, 1),
    nn.Sigmoid(),  # <- PM503
)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(20):
    model.train()
    running = 0.0
    for features, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(features), target)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(target)

    model.eval()
    with torch.no_grad():
        output = model(x_val)
        val_loss = criterion(output, y_val).item()
        predicted = (torch.sigmoid(output) > 0.5).float()
        accuracy = (predicted == y_val).float().mean().item()
    print(
        f"epoch {epoch:2d}  train {running / len(x_train):.4f}  val {val_loss:.4f}  "
        f"acc {accuracy:.3f}  predicted benign {predicted.mean():.3f}"
    )
