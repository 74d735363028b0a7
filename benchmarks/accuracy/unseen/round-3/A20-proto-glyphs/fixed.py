# Prototypical network: 5-way 3-shot episodes over many synthetic glyph classes.
from __future__ import annotations

import torch
from torch import Tensor, nn

GRID = 12


class GlyphBank:
    """Each class is a smooth random glyph; samples are shifted, noisy and partly erased."""

    def __init__(self, n_classes: int, seed: int):
        self.gen = torch.Generator().manual_seed(seed)
        raw = torch.rand(n_classes, 1, 5, 5, generator=self.gen)
        self.glyphs = nn.functional.interpolate(raw, size=(GRID, GRID), mode="bilinear", align_corners=True)[:, 0]
        self.n_classes = n_classes

    def draw(self, cls: int, n: int) -> Tensor:
        base = self.glyphs[cls]
        out = []
        for _ in range(n):
            dy, dx = torch.randint(-1, 2, (2,), generator=self.gen).tolist()
            img = torch.roll(base, (dy, dx), dims=(0, 1))
            keep = torch.rand(GRID, GRID, generator=self.gen) > 0.2
            out.append(img * keep + 0.25 * torch.randn(GRID, GRID, generator=self.gen))
        return torch.stack(out)

    def episode(self, n_way: int, k_shot: int, n_query: int):
        classes = torch.randperm(self.n_classes, generator=self.gen)[:n_way].tolist()
        samples = torch.stack([self.draw(c, k_shot + n_query) for c in classes])
        support, query = samples[:, :k_shot], samples[:, k_shot:]
        return support, query


class Embed(nn.Module):
    def __init__(self, dim: int = 32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(32 * 9, dim),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x.unsqueeze(1))


def proto_loss(model: Embed, support: Tensor, query: Tensor) -> tuple[Tensor, Tensor]:
    n_way, k_shot = support.shape[:2]
    n_query = query.size(1)
    protos = model(support.flatten(0, 1)).view(n_way, k_shot, -1).mean(1)
    emb = model(query.flatten(0, 1))
    logits = -torch.cdist(emb, protos).pow(2)
    labels = torch.arange(n_way).repeat_interleave(n_query)
    acc = (logits.argmax(1) == labels).float().mean()
    return nn.functional.cross_entropy(logits, labels), acc


def meta_test(model: Embed, bank: GlyphBank, episodes: int = 40) -> float:
    model.eval()
    with torch.no_grad():
        accs = [proto_loss(model, *bank.episode(5, 3, 8))[1] for _ in range(episodes)]
    return torch.stack(accs).mean().item()


def main() -> None:
    torch.manual_seed(0)
    train_bank, test_bank = GlyphBank(80, seed=1), GlyphBank(30, seed=2)
    model = Embed()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    running = 0.0
    for it in range(1, 301):
        model.train()
        support, query = train_bank.episode(n_way=5, k_shot=3, n_query=8)
        loss, acc = proto_loss(model, support, query)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
        if it % 60 == 0:
            print(f"episode {it} loss {running / 60:.4f} train acc {acc.item():.3f} meta-test acc {meta_test(model, test_bank):.3f}")
            running = 0.0


if __name__ == "__main__":
    main()
