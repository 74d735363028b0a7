import logging
import warnings

import lightning as L
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
torch.set_num_threads(1)
L.seed_everything(5, verbose=False)


class VAE(L.LightningModule):
    def __init__(self, latent=8, beta=1.0):
        super().__init__()
        self.save_hyperparameters()
        self.enc = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU())
        self.mu = nn.Linear(64, latent)
        self.logvar = nn.Linear(64, latent)
        self.dec = nn.Sequential(nn.Linear(latent, 64), nn.ReLU(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64))

    def elbo(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        rec = F.binary_cross_entropy_with_logits(self.dec(z), x, reduction="none").sum(1).mean()
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
        return rec, kl

    def training_step(self, batch, _):
        rec, kl = self.elbo(batch[0])
        return rec + self.hparams.beta * kl

    def validation_step(self, batch, _):
        rec, kl = self.elbo(batch[0])
        self.log_dict({"val_rec": rec, "val_kl": kl, "val_elbo": -(rec + kl)})

    def on_validation_epoch_end(self):
        m = self.trainer.callback_metrics
        if not self.trainer.sanity_checking and self.current_epoch % 5 == 4:
            print(f"epoch {self.current_epoch}: rec {m['val_rec']:.2f} kl {m['val_kl']:.2f} elbo {m['val_elbo']:.2f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


X = torch.tensor(load_digits().data, dtype=torch.float32) / 16
perm = torch.randperm(len(X))
train = DataLoader(TensorDataset(X[perm[:1500]]), batch_size=64, shuffle=True)
val = DataLoader(TensorDataset(X[perm[1500:]]), batch_size=297)

p = X.mean(0).clamp(1e-4, 1 - 1e-4)
print(f"mean-image reconstruction {F.binary_cross_entropy(p.expand_as(X), X, reduction='none').sum(1).mean():.2f}")
trainer = L.Trainer(max_epochs=30, accelerator="cpu", logger=False, enable_checkpointing=False,
                    enable_progress_bar=False, enable_model_summary=False)
trainer.fit(VAE(), train, val)
