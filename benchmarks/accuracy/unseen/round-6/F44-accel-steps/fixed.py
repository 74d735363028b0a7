import torch
import torch.nn as nn
from accelerate import Accelerator
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

ACCUM = 4


def build_loaders():
    d = load_digits()
    x = torch.tensor(d.data, dtype=torch.float32) / 16
    y = torch.tensor(d.target)
    return (DataLoader(TensorDataset(x[:1280], y[:1280]), batch_size=16, shuffle=True),
            DataLoader(TensorDataset(x[1280:], y[1280:]), batch_size=128))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=ACCUM)
    model = nn.Sequential(nn.Linear(64, 100), nn.ReLU(), nn.Linear(100, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    train, val = build_loaders()
    model, optimizer, train, val = accelerator.prepare(model, optimizer, train, val)
    for epoch in range(8):
        model.train()
        running = 0.0
        for step, (x, y) in enumerate(train):
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(x), y)
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
            running += loss.item()
        model.eval()
        hits = 0
        with torch.no_grad():
            for x, y in val:
                hits += (model(x).argmax(1) == y).sum().item()
        accelerator.print(f"epoch {epoch + 1}: loss {running / len(train):.3f}, accuracy {hits / len(val.dataset):.3f}")


if __name__ == "__main__":
    main()
