"""A VAE that fills in missing pixels: NaN marks what was not measured and never enters the loss."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

MISSING_SHARE = 0.25
BETA = 0.1


class MissingValueVAE(nn.Module):
    def __init__(self, n_pixels: int = 64, hidden: int = 96, latent: int = 10):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(2 * n_pixels, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, latent)
        self.log_var = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, n_pixels))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        observed = ~x.isnan()
        h = self.encoder(torch.cat([x.nan_to_num(0.0), observed.float()], dim=1))
        mu, log_var = self.mu(h), self.log_var(h)
        z = mu + torch.randn_like(mu) * (0.5 * log_var).exp() if self.training else mu
        return self.decoder(z), mu, log_var


def elbo_loss(logits: Tensor, x: Tensor, mu: Tensor, log_var: Tensor) -> Tensor:
    observed = ~x.isnan()
    nll = F.binary_cross_entropy_with_logits(logits[observed], x[observed], reduction="sum") / len(x)
    kl = -0.5 * (1 + log_var - mu.pow(2) - log_var.exp()).sum(dim=1).mean()
    return nll + BETA * kl


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    complete = torch.tensor(load_digits().data / 16, dtype=torch.float32)
    complete = complete[torch.randperm(len(complete))]
    hidden = torch.rand_like(complete) < MISSING_SHARE
    measured = complete.masked_fill(hidden, float("nan"))
    train, val = measured[:1500], measured[1500:]
    val_truth, val_hidden = complete[1500:], hidden[1500:]
    loader = DataLoader(TensorDataset(train), batch_size=50, shuffle=True)

    model = MissingValueVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    mean_fill = train.nanmean(dim=0).expand_as(val)
    baseline = (mean_fill - val_truth)[val_hidden].pow(2).mean().sqrt()
    print(f"filling in pixel means: rmse {baseline:.4f}")

    for epoch in range(12):
        model.train()
        total = 0.0
        for (x,) in loader:
            logits, mu, log_var = model(x)
            loss = elbo_loss(logits, x, mu, log_var)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            filled = torch.sigmoid(model(val)[0])
        rmse = (filled - val_truth)[val_hidden].pow(2).mean().sqrt()
        print(f"epoch {epoch:2d}  loss {total / len(loader):.3f}  imputation rmse {rmse:.4f}")


if __name__ == "__main__":
    main()
