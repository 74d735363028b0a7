"""Font recognition: every glyph is written out several times with noise to enlarge the data set."""
import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def load_glyphs(n=200, dim=20, fonts=10, seed=0):
    rng = np.random.default_rng(seed)
    glyphs = rng.normal(size=(n, dim)).astype(np.float32)
    labels = rng.integers(0, fonts, n)
    glyphs[np.arange(n), labels] += 2.5
    return glyphs, labels


def augment(glyphs, labels, copies=5, noise=0.05, seed=1):
    rng = np.random.default_rng(seed)
    data = np.repeat(glyphs, copies, axis=0)
    data = data + rng.normal(0, noise, data.shape).astype(np.float32)
    return data, np.repeat(labels, copies)


def build_model(fonts=10):
    return nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, fonts))


def run(epochs=25):
    glyphs, labels = load_glyphs()
    data, labels = augment(glyphs, labels)
    train_x, test_x, train_y, test_y = train_test_split(data, labels, test_size=0.25, random_state=42)  # <- PM307
    train = TensorDataset(torch.from_numpy(train_x), torch.from_numpy(train_y))
    test = TensorDataset(torch.from_numpy(test_x), torch.from_numpy(test_y))
    train_loader = DataLoader(train, batch_size=50, shuffle=True)
    test_loader = DataLoader(test, batch_size=50)
    model = build_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        if epoch % 4 == 0:
            model.eval()
            with torch.no_grad():
                hits = sum((model(x).argmax(1) == y).sum().item() for x, y in test_loader)
            print(f"epoch {epoch} loss {loss.item():.3f} test accuracy {hits / len(test):.3f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    run()
