"""Bottleneck adapters: the backbone gets a new head, and only adapters and head are saved and restored."""

import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

TOKENS, LENGTH, WIDTH = 30, 16, 48


class Layer(nn.Module):
    """A residual convolution over time, optionally followed by a small adapter."""

    def __init__(self, adapter: bool) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.mix = nn.Conv1d(WIDTH, WIDTH, 3, padding=1)
        self.adapter = nn.Sequential(nn.Linear(WIDTH, 8), nn.GELU(), nn.Linear(8, WIDTH)) if adapter else None
        if self.adapter is not None:
            nn.init.zeros_(self.adapter[2].weight)
            nn.init.zeros_(self.adapter[2].bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + F.gelu(self.mix(self.norm(x).transpose(1, 2))).transpose(1, 2)
        return x if self.adapter is None else x + self.adapter(x)


class TextModel(nn.Module):
    def __init__(self, outputs: int, head: str, adapters: bool = False) -> None:
        super().__init__()
        self.tokens = nn.Embedding(TOKENS, WIDTH)
        self.layers = nn.Sequential(*(Layer(adapters) for _ in range(3)), nn.LayerNorm(WIDTH))
        self.add_module(head, nn.Linear(WIDTH, outputs))
        self.head = head

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.get_submodule(self.head)(self.layers(self.tokens(tokens)).mean(dim=1))


def make_task(count: int, classes: int, scores: torch.Tensor) -> TensorDataset:
    """The class with the highest sum of token scores wins."""
    tokens = torch.randint(TOKENS, (count, LENGTH))
    return TensorDataset(tokens, scores[tokens].sum(dim=1)[:, :classes].argmax(dim=1))


@torch.no_grad()
def accuracy(model: nn.Module, data: TensorDataset) -> float:
    model.eval()
    tokens, labels = data.tensors
    return (model(tokens).argmax(dim=1) == labels).float().mean().item()


def fit(name: str, model: nn.Module, train: TensorDataset, valid: TensorDataset, epochs: int, lr: float) -> None:
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=lr)
    loader = DataLoader(train, batch_size=50, shuffle=True)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for tokens, labels in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(tokens), labels)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(tokens)
        print(f"{name} {epoch}: loss {total / len(train):.3f}  valid accuracy {accuracy(model, valid):.3f}")


def load_backbone(model: TextModel, path: Path) -> None:
    result = model.load_state_dict(torch.load(path), strict=False)
    print(f"backbone: {len(result.missing_keys)} keys new, {len(result.unexpected_keys)} left out")


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    scores = torch.randn(TOKENS, 5)
    with tempfile.TemporaryDirectory() as folder:
        backbone, adapters = Path(folder) / "backbone.pt", Path(folder) / "adapters.pt"

        source = TextModel(outputs=5, head="topic")
        fit("source", source, make_task(2000, 5, scores), make_task(400, 5, scores), epochs=3, lr=2e-3)
        torch.save(source.state_dict(), backbone)

        target = TextModel(outputs=3, head="intent", adapters=True)
        load_backbone(target, backbone)
        for name, parameter in target.named_parameters():
            parameter.requires_grad = "adapter" in name or "intent" in name
        relabelled = scores.flip(1) + 0.3 * torch.randn(TOKENS, 5)
        valid = make_task(400, 3, relabelled)
        fit("target", target, make_task(1500, 3, relabelled), valid, epochs=4, lr=5e-3)
        tuned = {name: p.detach() for name, p in target.named_parameters() if p.requires_grad}
        torch.save(tuned, adapters)

        restored = TextModel(outputs=3, head="intent", adapters=True)
        load_backbone(restored, backbone)
        restored.load_state_dict(torch.load(adapters), strict=False)
        print(f"restored from {len(tuned)} of {len(restored.state_dict())} tensors: {accuracy(restored, valid):.3f}")


if __name__ == "__main__":
    main()
