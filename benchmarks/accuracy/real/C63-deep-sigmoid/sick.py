"""A deep fully connected classifier in the style of a lecture exercise."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_mlp(depth, width, activation):
    layers = [nn.Linear(20, width), activation()]
    for _ in range(depth - 2):
        layers += [nn.Linear(width, width), activation()]
    return nn.Sequential(*layers, nn.Linear(width, 4))


def blobs(n):
    y = torch.randint(4, (n,))
    centres = torch.randn(4, 20, generator=torch.Generator().manual_seed(5)) * 1.2
    return TensorDataset(centres[y] + torch.randn(n, 20), y)


def train(model, loader, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        total, right, count = 0.0, 0, 0
        for x, y in loader:
            optimizer.zero_grad()
            logits = model(x)
            loss = criterion(logits, y)
            loss.backward()
            optimizer.step()
            total += loss.item()
            right += (logits.argmax(1) == y).sum().item()
            count += len(y)
        print(f"epoch {epoch}: loss {total / len(loader):.4f} accuracy {right / count:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--depth", type=int, default=9)
    parser.add_argument("--width", type=int, default=40)
    options = parser.parse_args()
    torch.manual_seed(0)
    net = make_mlp(options.depth, options.width, nn.Sigmoid)  # <- PM201
    train(net, DataLoader(blobs(1600), batch_size=32, shuffle=True), epochs=8, lr=0.02)
