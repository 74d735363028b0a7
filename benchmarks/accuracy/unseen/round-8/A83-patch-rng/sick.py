"""Denoise spectra with random crops drawn on the fly from a few long scans."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, get_worker_info

CROP = 48


def make_scan(rng, length=6000):
    """A line spectrum: random narrow and broad peaks on a smooth baseline."""
    axis = np.arange(length)
    scan = 0.3 * np.sin(axis / rng.uniform(80, 160))
    for centre in rng.uniform(0, length, 400):
        scan += rng.uniform(0.5, 1.5) * np.exp(-0.5 * ((axis - centre) / rng.uniform(1.5, 5)) ** 2)
    return scan.astype(np.float32)


class CropDataset(Dataset):
    def __init__(self, scans, size, noise, seed):
        self.scans = scans
        self.size = size
        self.noise = noise
        self.seed = seed
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        rng = self.rng
        scan = self.scans[rng.integers(len(self.scans))]
        start = rng.integers(len(scan) - CROP)
        clean = scan[start:start + CROP]
        noisy = clean + self.noise * rng.standard_normal(CROP).astype(np.float32)
        return torch.from_numpy(noisy.astype(np.float32)), torch.from_numpy(clean.copy())


class Denoiser(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(CROP, width), nn.GELU(),
            nn.Linear(width, width), nn.GELU(),
            nn.Linear(width, CROP),
        )

    def forward(self, x):
        return x + self.net(x)


def run_epoch(model, loader, optimizer):
    model.train()
    total = 0.0
    for noisy, clean in loader:
        loss = nn.functional.mse_loss(model(noisy), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(noisy)
    return total / len(loader.dataset)


def validate(model, noisy, clean):
    model.eval()
    with torch.no_grad():
        return nn.functional.mse_loss(model(noisy), clean).item()


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    scans = [make_scan(rng) for _ in range(12)]
    scale = np.std(np.concatenate(scans[:10]))
    offset = np.mean(np.concatenate(scans[:10]))
    scans = [(s - offset) / scale for s in scans]

    train_set = CropDataset(scans[:10], size=1024, noise=0.6, seed=1)
    held_out = CropDataset(scans[10:], size=1024, noise=0.6, seed=2)
    pairs = [held_out[i] for i in range(len(held_out))]
    val_noisy = torch.stack([p[0] for p in pairs])
    val_clean = torch.stack([p[1] for p in pairs])

    loader = DataLoader(train_set, batch_size=64, shuffle=True, num_workers=2)
    model = Denoiser()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=40)
    print(f"noisy input mse {nn.functional.mse_loss(val_noisy, val_clean):.4f}")
    for epoch in range(40):
        train_mse = run_epoch(model, loader, optimizer)
        scheduler.step()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:2d} train mse {train_mse:.4f} val mse {validate(model, val_noisy, val_clean):.4f}")


if __name__ == "__main__":
    main()
