"""Fit a small network that stands in for an expensive rig: 12 controls -> 30 vertex offsets."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class RigDataset(Dataset):
    def __init__(self, controls, vertices):
        self.controls = torch.from_numpy(controls).float()
        self.vertices = torch.from_numpy(vertices).float()

    def __len__(self):
        return len(self.controls)

    def __getitem__(self, i):
        return self.controls[i], self.vertices[i]


def record_poses(n=1000, seed=7):
    rng = np.random.default_rng(seed)
    controls = rng.uniform(-1, 1, (n, 12))
    basis = rng.normal(size=(12, 30))
    vertices = np.sin(controls @ basis) + 0.02 * rng.normal(size=(n, 30))
    return controls, vertices


def run_epoch(model, loader, criterion, optimizer=None):
    model.train(optimizer is not None)
    total, count = 0.0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for controls, vertices in loader:
            loss = criterion(model(controls), vertices)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item() * len(controls)
            count += len(controls)
    return total / count


def main():
    torch.manual_seed(1)
    controls, vertices = record_poses()
    train_set = RigDataset(controls[:-100], vertices[:-100])
    valid_set = RigDataset(controls[100:], vertices[100:])  # <- PM307
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
    valid_loader = DataLoader(valid_set, batch_size=100)
    model = nn.Sequential(nn.Linear(12, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 30))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.MSELoss()
    for epoch in range(20):
        train_loss = run_epoch(model, train_loader, criterion, optimizer)
        valid_loss = run_epoch(model, valid_loader, criterion)
        if epoch % 4 == 3:
            print(f"epoch {epoch:2d}  train {train_loss:.4f}  valid {valid_loss:.4f}")


if __name__ == "__main__":
    main()
