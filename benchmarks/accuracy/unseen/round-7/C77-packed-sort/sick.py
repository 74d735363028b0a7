import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.data import DataLoader, Dataset


class WalkDataset(Dataset):
    """random walks with drift, of different lengths; label = drift bucket"""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, 3, n)
        self.lengths = rng.integers(8, 31, n)
        self.seqs = []
        for lab, length in zip(self.labels, self.lengths):
            steps = rng.normal((lab - 1) * 0.6, 1.0, (length, 2))
            self.seqs.append(steps.astype(np.float32))

    def __len__(self):
        return len(self.seqs)

    def __getitem__(self, i):
        x = np.zeros((30, 2), np.float32)
        x[: self.lengths[i]] = self.seqs[i]
        return x, int(self.lengths[i]), int(self.labels[i])


class Encoder(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.GRU(2, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 3)

    def forward(self, x, lengths):
        lengths, order = lengths.sort(descending=True)
        packed = pack_padded_sequence(x[order], lengths, batch_first=True)
        _, h = self.rnn(packed)
        return self.fc(h[-1])


def epoch(model, loader, opt=None):
    model.train(opt is not None)
    loss_sum, right, n = 0.0, 0, 0
    with torch.set_grad_enabled(opt is not None):
        for x, lengths, y in loader:
            out = model(x, lengths)
            loss = nn.functional.cross_entropy(out, y)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            loss_sum += loss.item() * len(y)
            right += (out.argmax(1) == y).sum().item()
            n += len(y)
    return loss_sum / n, right / n


if __name__ == "__main__":
    torch.manual_seed(4)
    train_loader = DataLoader(WalkDataset(1000, 0), batch_size=32, shuffle=True)
    val_loader = DataLoader(WalkDataset(300, 1), batch_size=50)
    model = Encoder()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for e in range(8):
        tl, ta = epoch(model, train_loader, opt)
        vl, va = epoch(model, val_loader)
        print(f"{e} train {tl:.3f}/{ta:.3f} val {vl:.3f}/{va:.3f}")
