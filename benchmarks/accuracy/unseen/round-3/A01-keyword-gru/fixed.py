"""Keyword spotting on log-mel patches with a small bidirectional GRU."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

N_MELS, N_FRAMES = 40, 64
WORDS = ["up", "down", "left", "right", "stop", "go"]


def synth_logmel(word, rng):
    """A crude formant track per word, drawn as a ridge on the mel axis."""
    t = np.linspace(0, 1, 32)
    tracks = {
        0: 8 + 22 * t,
        1: 30 - 22 * t,
        2: 20 + 9 * np.sin(2 * np.pi * t),
        3: 20 - 9 * np.sin(2 * np.pi * t),
        4: 8 + 22 * np.abs(2 * t - 1),
        5: 30 - 22 * np.abs(2 * t - 1),
    }
    centre = tracks[word] + rng.uniform(-5, 5)
    onset = rng.integers(0, N_FRAMES - 32)
    mel = np.arange(N_MELS)[:, None]
    spec = rng.normal(0, 0.6, (N_MELS, N_FRAMES))
    ridge = 2.0 * np.exp(-0.5 * ((mel - centre[None]) / 1.5) ** 2)
    spec[:, onset:onset + 32] += ridge
    return spec.astype(np.float32)


class SpeechCommands(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, len(WORDS), n)
        feats = np.stack([synth_logmel(w, rng) for w in self.labels])
        self.feats = (feats - feats.mean()) / feats.std()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return torch.from_numpy(self.feats[i]), int(self.labels[i])


class KeywordGRU(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.proj = nn.Linear(N_MELS, 32)
        self.gru = nn.GRU(32, hidden, batch_first=True, bidirectional=True)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(2 * hidden, len(WORDS))

    def forward(self, mel):
        # mel: (batch, n_mels, frames) as it comes from the feature extractor
        frames = mel.transpose(1, 2)
        h, _ = self.gru(torch.relu(self.proj(frames)))
        return self.head(self.drop(h.mean(dim=1)))


def run_epoch(model, loader, opt=None):
    model.train(opt is not None)
    ce, total, correct, n = nn.CrossEntropyLoss(), 0.0, 0, 0
    with torch.set_grad_enabled(opt is not None):
        for mel, y in loader:
            out = model(mel)
            loss = ce(out, y)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 2.0)
                opt.step()
            total += loss.item() * len(y)
            correct += (out.argmax(1) == y).sum().item()
            n += len(y)
    return total / n, correct / n


def main():
    torch.manual_seed(3)
    train = DataLoader(SpeechCommands(1200, 0), batch_size=48, shuffle=True)
    valid = DataLoader(SpeechCommands(300, 1), batch_size=100)
    model = KeywordGRU()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-4)
    for epoch in range(8):
        tr_loss, tr_acc = run_epoch(model, train, opt)
        va_loss, va_acc = run_epoch(model, valid)
        print(f"epoch {epoch}: train {tr_loss:.3f}/{tr_acc:.3f}  valid {va_loss:.3f}/{va_acc:.3f}")
    print(f"final valid accuracy {va_acc:.3f}")


if __name__ == "__main__":
    main()
