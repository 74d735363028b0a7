"""One shared backbone, two sites: the backbone and head of site A stay as deployed while a head for site B is added."""
import numpy as np
import torch
from sklearn.datasets import make_classification
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TwoSiteModel(nn.Module):
    def __init__(self, n_in=16, width=48, n_classes=4):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Linear(n_in, width), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU())
        self.heads = nn.ModuleDict({"A": nn.Linear(width, n_classes), "B": nn.Linear(width, n_classes)})

    def forward(self, x, site):
        return self.heads[site](self.backbone(x))


def site_data(seed=17):
    x, y = make_classification(n_samples=4000, n_features=16, n_informative=10, n_redundant=2, n_classes=4,
                               n_clusters_per_class=1, class_sep=1.6, random_state=seed)
    x = (x - x[:1500].mean(0)) / x[:1500].std(0)
    rng = np.random.default_rng(seed)
    xb = x[2000:] * rng.uniform(0.5, 1.6, 16) + rng.normal(0, 1.5, 16)

    def pack(a, b):
        return TensorDataset(torch.tensor(a, dtype=torch.float32), torch.tensor(b))

    return {"A": (pack(x[:1500], y[:1500]), pack(x[1500:2000], y[1500:2000])),
            "B": (pack(xb[:1500], y[2000:3500]), pack(xb[1500:], y[3500:]))}


class SiteTrainer:
    def __init__(self, model, data):
        self.model = model
        self.train_loaders = {s: DataLoader(d[0], batch_size=50, shuffle=True) for s, d in data.items()}
        self.val_loaders = {s: DataLoader(d[1], batch_size=250) for s, d in data.items()}
        self.backbone_frozen = False

    def freeze_backbone(self):
        self.backbone_frozen = True
        for p in self.model.backbone.parameters():
            p.requires_grad_(False)

    def fit(self, site, epochs, lr):
        params = [p for p in self.model.parameters() if p.requires_grad]
        if self.backbone_frozen:
            params = list(self.model.heads[site].parameters())
        opt = torch.optim.Adam(params, lr=lr)
        for epoch in range(epochs):
            self.model.train()
            if self.backbone_frozen:
                self.model.backbone.eval()
            total = n = 0
            for x, y in self.train_loaders[site]:
                loss = nn.functional.cross_entropy(self.model(x, site), y)
                opt.zero_grad()
                loss.backward()
                opt.step()
                total += loss.item() * len(y)
                n += len(y)
            print(f"site {site} epoch {epoch} loss {total / n:.4f} val acc {self.accuracy(site):.3f}")

    @torch.no_grad()
    def accuracy(self, site):
        self.model.eval()
        hits = n = 0
        for x, y in self.val_loaders[site]:
            hits += (self.model(x, site).argmax(1) == y).sum().item()
            n += len(y)
        return hits / n


def main():
    torch.manual_seed(17)
    trainer = SiteTrainer(TwoSiteModel(), site_data())
    trainer.fit("A", epochs=8, lr=2e-3)
    before = trainer.accuracy("A")
    trainer.freeze_backbone()
    trainer.fit("B", epochs=10, lr=5e-3)
    print(f"site A accuracy before adding B {before:.3f}, after {trainer.accuracy('A'):.3f}; "
          f"site B accuracy {trainer.accuracy('B'):.3f}")


if __name__ == "__main__":
    main()
