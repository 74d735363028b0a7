"""Click prediction with Accelerate: rare clicks, embeddings for user and ad, AUC against the best reachable."""
import numpy as np
import torch
from accelerate import Accelerator
from sklearn.metrics import roc_auc_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_log(n=24000, users=60, ads=40, seed=4):
    rng = np.random.default_rng(seed)
    u, a = rng.integers(0, users, n), rng.integers(0, ads, n)
    context = rng.normal(size=(n, 4)).astype(np.float32)
    taste_u, taste_a = rng.normal(size=users), rng.normal(size=ads)
    score = -3.1 + 0.35 * taste_u[u] + 0.45 * taste_a[a] + 0.3 * context[:, 0] - 0.2 * context[:, 1]
    p = 1 / (1 + np.exp(-score))
    click = (rng.random(n) < p).astype(np.float32)
    return u, a, context, click, p


class ClickModel(nn.Module):
    def __init__(self, users, ads, dim=4, prior=0.05):
        super().__init__()
        self.user, self.ad = nn.Embedding(users, dim), nn.Embedding(ads, dim)
        for table in (self.user, self.ad):
            nn.init.normal_(table.weight, std=0.05)
        self.mlp = nn.Sequential(nn.Linear(2 * dim + 4, 16), nn.ReLU(), nn.Linear(16, 1))
        nn.init.constant_(self.mlp[-1].bias, float(np.log(prior / (1 - prior))))

    def forward(self, u, a, context):
        return self.mlp(torch.cat([self.user(u), self.ad(a), context], dim=1)).squeeze(1)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    accelerator = Accelerator(cpu=True)
    u, a, context, click, p = make_log()
    tensors = [torch.from_numpy(t) for t in (u, a, context, click)]
    cut = 20000
    train = TensorDataset(*[t[:cut] for t in tensors])
    test = TensorDataset(*[t[cut:] for t in tensors])
    train_loader = DataLoader(train, batch_size=200, shuffle=True)
    test_loader = DataLoader(test, batch_size=1000)
    model = ClickModel(60, 40, prior=float(click[:cut].mean()))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    model, optimizer, train_loader, test_loader = accelerator.prepare(model, optimizer, train_loader, test_loader)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(6):
        model.train()
        losses = []
        for uu, aa, cc, yy in train_loader:
            loss = criterion(model(uu, aa, cc), yy)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        model.eval()
        scores, truth = [], []
        with torch.no_grad():
            for uu, aa, cc, yy in test_loader:
                scores.append(accelerator.gather_for_metrics(model(uu, aa, cc)))
                truth.append(accelerator.gather_for_metrics(yy))
        auc = roc_auc_score(torch.cat(truth).numpy(), torch.cat(scores).numpy())
        accelerator.print(f"epoch {epoch + 1}: log loss {np.mean(losses):.4f}  test AUC {auc:.3f}")
    accelerator.print(f"click rate {click.mean():.3f}, AUC of the true probabilities "
                      f"{roc_auc_score(click[cut:], p[cut:]):.3f}")


if __name__ == "__main__":
    main()
