"""Face identities from a list file whose ids were exported from Matlab."""
import io

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset

N_IDS = 10


def export_list(n=600):
    rng = np.random.default_rng(0)
    return "\n".join(f"img_{i:05d} {rng.integers(1, N_IDS + 1)}" for i in range(n))


class ImageList(Dataset):
    def __init__(self, file_list, dim=24):
        rng = np.random.default_rng(1)
        prototypes = rng.normal(size=(N_IDS + 1, dim))
        self.samples = []
        for line in file_list:
            name, label = line.split()
            label = int(label) - 1
            self.samples.append((prototypes[int(line.split()[1])] + rng.normal(0, 0.8, dim), label))

    def __getitem__(self, index):
        feature, target = self.samples[index]
        return torch.as_tensor(feature, dtype=torch.float32), target

    def __len__(self):
        return len(self.samples)


class mfm(nn.Module):
    """Max-feature-map activation."""

    def __init__(self, n_in, n_out):
        super().__init__()
        self.filter = nn.Linear(n_in, 2 * n_out)

    def forward(self, x):
        a, b = self.filter(x).chunk(2, dim=1)
        return torch.max(a, b)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_loader = DataLoader(ImageList(io.StringIO(export_list())), batch_size=30, shuffle=True)
    model = nn.Sequential(mfm(24, 48), mfm(48, 32), nn.Linear(32, N_IDS))
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(5):
        top1 = 0
        for feature, target in train_loader:
            output = model(feature)
            loss = criterion(output, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            top1 += (output.argmax(1) == target).sum().item()
        print(f"epoch {epoch} loss {loss.item():.3f} top1 {top1 / len(train_loader.dataset):.3f}")


if __name__ == "__main__":
    main()
