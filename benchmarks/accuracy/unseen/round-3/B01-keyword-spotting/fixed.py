"""Small keyword spotter: log-mel features + temporal CNN."""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SR = 4000
N_FFT = 128
HOP = 64
N_MELS = 24
WORDS = ["up", "down", "left", "right", "stop", "go"]
# every word is a short sequence of formant pairs
FORMANTS = {0: [(400, 1200), (700, 1500)], 1: [(700, 1500), (400, 1200)],
            2: [(300, 900), (300, 1700)], 3: [(300, 1700), (300, 900)],
            4: [(550, 1000), (800, 1300)], 5: [(800, 1300), (550, 1000)]}


def mel_filterbank(n_mels, n_fft, sr):
    hz2mel = lambda f: 2595 * np.log10(1 + f / 700)
    mel2hz = lambda m: 700 * (10 ** (m / 2595) - 1)
    pts = mel2hz(np.linspace(hz2mel(50), hz2mel(sr / 2), n_mels + 2))
    bins = np.fft.rfftfreq(n_fft, 1 / sr)
    fb = np.zeros((n_mels, len(bins)), dtype=np.float32)
    for i in range(n_mels):
        lo, c, hi = pts[i:i + 3]
        fb[i] = np.maximum(0, np.minimum((bins - lo) / (c - lo), (hi - bins) / (hi - c)))
    return torch.from_numpy(fb)


def utterance(word, rng):
    wav = 0.45 * rng.standard_normal(SR).astype(np.float32)
    onset = rng.integers(0, SR // 3)
    speed = rng.uniform(0.8, 1.2)
    shift = rng.uniform(0.9, 1.1)
    for f1, f2 in FORMANTS[word]:
        n = int(0.22 * SR * speed)
        t = np.arange(n) / SR
        env = np.hanning(n)
        seg = np.sin(2 * math.pi * f1 * shift * t + rng.uniform(0, 6)) + 0.7 * np.sin(2 * math.pi * f2 * shift * t)
        wav[onset:onset + n] += (0.4 * env * seg)[:len(wav[onset:onset + n])]
        onset += int(n * 0.9)
    return wav


class Commands(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.y = rng.integers(0, len(WORDS), n)
        wavs = torch.from_numpy(np.stack([utterance(w, rng) for w in self.y]))
        spec = torch.stft(wavs, N_FFT, HOP, window=torch.hann_window(N_FFT), return_complex=True).abs() ** 2
        power = spec.transpose(1, 2) @ mel_filterbank(N_MELS, N_FFT, SR).T      # (n, frames, mels)
        feats = torch.log(power + 1e-5)
        self.x = (feats - feats.mean()) / feats.std()

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        frames = self.x[i]
        # Conv1d wants (channels, time)
        return frames.transpose(0, 1), int(self.y[i])


class Spotter(nn.Module):
    def __init__(self, n_classes, width=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(N_MELS, width, 5, padding=2), nn.BatchNorm1d(width), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(width, width, 5, padding=2), nn.BatchNorm1d(width), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(width, width, 3, padding=1), nn.ReLU())
        self.fc = nn.Linear(width, n_classes)

    def forward(self, x):
        return self.fc(self.net(x).amax(-1))


def accuracy(model, loader):
    model.eval()
    hit = n = 0
    with torch.no_grad():
        for x, y in loader:
            hit += (model(x).argmax(1) == y).sum().item()
            n += len(y)
    return hit / n


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    torch.manual_seed(0)
    train = DataLoader(Commands(320, 0), batch_size=32, shuffle=True)
    test = DataLoader(Commands(300, 1), batch_size=100)
    model = Spotter(len(WORDS))
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, y in train:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
        print(f"epoch {epoch} train loss {total / 320:.3f} test acc {accuracy(model, test):.3f}")
