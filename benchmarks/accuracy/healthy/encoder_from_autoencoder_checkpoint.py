"""Only the encoder of a pretrained autoencoder is wanted; its decoder is left over, and the new model has a large head."""

import torch
import torch.nn as nn


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 16))
        self.decoder = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 24))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 16))
        self.head = nn.Sequential(
            nn.Linear(16, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, classes)
        )

    def forward(self, x):
        return self.head(self.encoder(x))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    basis = torch.randn(6, 24)

    def draw(n):
        code = torch.randn(n, 6)
        return code @ basis + 0.1 * torch.randn(n, 24), code[:, :4].argmax(1)

    auto = AutoEncoder()
    optimizer = torch.optim.Adam(auto.parameters(), lr=5e-3)
    for step in range(150):
        x, _ = draw(64)
        loss = nn.functional.mse_loss(auto(x), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("autoencoder", loss.item())
    torch.save(auto.state_dict(), "autoencoder.pth")

    model = Classifier(4)
    result = model.load_state_dict(torch.load("autoencoder.pth", weights_only=True), strict=False)
    print("missing", len(result.missing_keys), "unexpected", len(result.unexpected_keys))
    assert all(k.startswith("head.") for k in result.missing_keys)
    assert all(k.startswith("decoder.") for k in result.unexpected_keys)
    optimizer = torch.optim.Adam(
        [{"params": model.encoder.parameters(), "lr": 1e-3}, {"params": model.head.parameters(), "lr": 5e-3}]
    )
    for step in range(120):
        x, y = draw(64)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        x, y = draw(1000)
        accuracy = (model(x).argmax(1) == y).float().mean().item()
    print("classifier", loss.item(), accuracy)
    assert accuracy > 0.85


if __name__ == "__main__":
    main()
