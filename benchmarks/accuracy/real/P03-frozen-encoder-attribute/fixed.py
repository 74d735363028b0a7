"""Fine-tune a head on a pretrained encoder that should stay fixed."""
from collections import OrderedDict

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class EncoderHead(nn.Module):
    def __init__(self, in_features: int, classes: int):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(in_features, 64), nn.ReLU())
        self.head = nn.Linear(64, classes)

    def forward(self, x):
        return self.head(self.encoder(x))


def pretrain(encoder: nn.Module, x: torch.Tensor) -> None:
    """Reconstruct the input for a while."""
    decoder = nn.Linear(64, x.shape[1])
    opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
    for _ in range(30):
        opt.zero_grad()
        nn.functional.mse_loss(decoder(encoder(x)), x).backward()
        opt.step()


class Runner:
    def train(self, model, optimizer, loaders, num_epochs):
        for epoch in range(num_epochs):
            for phase, loader in loaders.items():
                model.train(phase == "train")
                hits = count = 0
                for x, y in loader:
                    with torch.set_grad_enabled(phase == "train"):
                        logits = model(x)
                        loss = nn.functional.cross_entropy(logits, y)
                    if phase == "train":
                        optimizer.zero_grad()
                        loss.backward()
                        optimizer.step()
                    hits += (logits.argmax(1) == y).sum().item()
                    count += len(y)
                print(f"{epoch} {phase}: accuracy {hits / count:.3f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(1)
    centers = torch.randn(5, 20)
    y = torch.randint(5, (1000,))
    x = centers[y] + torch.randn(1000, 20)
    loaders = OrderedDict(
        train=DataLoader(TensorDataset(x[:800], y[:800]), batch_size=32, shuffle=True),
        valid=DataLoader(TensorDataset(x[800:], y[800:]), batch_size=100),
    )
    model = EncoderHead(20, 5)
    pretrain(model.encoder, x[:800])
    model.encoder.requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    before = model.encoder[0].weight.clone()
    Runner().train(model, optimizer, loaders, num_epochs=4)
    print("encoder moved by", (model.encoder[0].weight - before).norm().item())
