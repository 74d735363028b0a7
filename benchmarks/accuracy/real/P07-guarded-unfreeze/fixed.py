"""Two-phase fine-tuning: train the classifier first, then everything."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def set_requires_grad(model, val):
    for p in model.parameters():
        p.requires_grad = val


class AudioNet(nn.Module):
    def __init__(self, n_classes=6):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv1d(1, 12, 7, stride=2), nn.ReLU(), nn.Conv1d(12, 24, 5, stride=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1),
        )
        self.classifier = nn.Linear(24, n_classes)

    def forward(self, wave):
        return self.classifier(self.backbone(wave).squeeze(-1))


def tones(n, n_classes=6):
    y = torch.randint(n_classes, (n,))
    t = torch.linspace(0, 1, 96)
    freq = 3 + 4 * y.float()
    wave = torch.sin(6.283 * (freq[:, None] * t + torch.rand(n, 1))) + 0.4 * torch.randn(n, 96)
    return TensorDataset(wave.unsqueeze(1), y)


def run_phase(name, model, loader, optimizer, epochs):
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        losses, hits = 0.0, 0
        for wave, y in loader:
            optimizer.zero_grad()
            out = model(wave)
            loss = criterion(out, y)
            loss.backward()
            optimizer.step()
            losses += loss.item()
            hits += (out.argmax(1) == y).sum().item()
        print(f"{name} epoch {epoch}: loss {losses / len(loader):.3f} accuracy {hits / len(loader.dataset):.3f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(3)
    loader = DataLoader(tones(640), batch_size=32, shuffle=True)
    model = AudioNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

    set_requires_grad(model.backbone, False)
    run_phase("linear", model, loader, optimizer, epochs=3)
    set_requires_grad(model.backbone, True)
    run_phase("finetune", model, loader, optimizer, epochs=5)
