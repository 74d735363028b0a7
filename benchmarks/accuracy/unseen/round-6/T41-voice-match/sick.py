import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def synth_voices(n=1600, speakers=6):
    torch.manual_seed(0)
    speaker = torch.randint(0, speakers, (n,))
    timbre = torch.randn(speakers, 40)
    return timbre[speaker] + 2.0 * torch.randn(n, 40), speaker


class VoiceNet(nn.Module):
    def __init__(self, n_speakers):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(40, 64), nn.LayerNorm(64), nn.GELU(), nn.Dropout(0.1))
        self.classifier = nn.Linear(64, n_speakers)

    def forward(self, feats):
        return self.classifier(self.encoder(feats))


def train_one_epoch(model, loader, optimizer, criterion):
    model.train()
    total = 0.0
    for feats, speaker in loader:
        logits = model(feats)
        loss = criterion(logits, speaker)
        loss.backward()
        optimizer.zero_grad()  # <- PM602
        optimizer.step()
        total += loss.item() * len(speaker)
    return total / len(loader.dataset)


@torch.inference_mode()
def evaluate(model, loader):
    model.eval()
    return sum((model(f).argmax(-1) == s).sum().item() for f, s in loader) / len(loader.dataset)


def main():
    torch.set_num_threads(1)
    data = TensorDataset(*synth_voices())
    train_set, val_set = random_split(data, [1280, 320], generator=torch.Generator().manual_seed(1))
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=160)
    model = VoiceNet(6)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(10):
        loss = train_one_epoch(model, train_loader, optimizer, criterion)
        print(f"epoch {epoch + 1}: train loss {loss:.4f}, val acc {evaluate(model, val_loader):.4f}")


if __name__ == "__main__":
    main()
