"""Lightning fine-tuning of a small residual classifier, with a baseline score taken first."""
import logging
import warnings

import lightning as L
import torch
import torch.nn.functional as F
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Block(nn.Module):
    def __init__(self, width, p):
        super().__init__()
        self.a = nn.Linear(width, width)
        self.n = nn.BatchNorm1d(width)
        self.b = nn.Linear(width, width)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        return x + self.drop(self.b(F.relu(self.n(self.a(x)))))


class Net(L.LightningModule):
    def __init__(self, n_in, width=128, depth=3, p=0.5, lr=2e-3):
        super().__init__()
        self.lr = lr
        self.stem = nn.Sequential(nn.Linear(n_in, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(p))
        self.blocks = nn.Sequential(*[Block(width, p) for _ in range(depth)])
        self.out = nn.Linear(width, 1)
        self.scores, self.truth = [], []

    def forward(self, x):
        return self.out(self.blocks(self.stem(x))).squeeze(-1)

    def training_step(self, batch, _):
        x, y = batch
        loss = F.binary_cross_entropy_with_logits(self(x), y)
        self.log("train_loss", loss, on_epoch=True, on_step=False)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        logits = self(x)
        self.log("val_loss", F.binary_cross_entropy_with_logits(logits, y))
        self.scores.append(logits)
        self.truth.append(y)

    def on_validation_epoch_end(self):
        auc = roc_auc_score(torch.cat(self.truth).numpy(), torch.cat(self.scores).numpy())
        self.log("val_auc", float(auc))
        self.scores.clear()
        self.truth.clear()

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.lr, weight_decay=1e-3)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(opt, 25)}


class Report(L.Callback):
    def on_train_epoch_end(self, trainer, module):
        m = trainer.callback_metrics
        if trainer.current_epoch % 5 == 4:
            print(f"epoch {trainer.current_epoch + 1:2d}  train loss {m['train_loss']:.4f}  "
                  f"val loss {m['val_loss']:.4f}  val auc {m['val_auc']:.4f}")


@torch.no_grad()
def baseline(model, loader):
    """Score of the untouched network, printed next to the trained one."""
    was_training = model.training
    model.eval()
    scores = torch.cat([model(x) for x, _ in loader])
    truth = torch.cat([y for _, y in loader])
    model.train(was_training)
    return roc_auc_score(truth.numpy(), scores.numpy())


def main():
    L.seed_everything(3)
    x, y = make_classification(n_samples=1400, n_features=60, n_informative=12, n_redundant=8,
                               n_clusters_per_class=4, class_sep=0.9, flip_y=0.08, random_state=3)
    xtr, xva, ytr, yva = train_test_split(x, y, test_size=0.4, stratify=y, random_state=3)
    mu, sd = xtr.mean(0), xtr.std(0)
    make = lambda a, b: TensorDataset(torch.tensor((a - mu) / sd, dtype=torch.float32),
                                      torch.tensor(b, dtype=torch.float32))
    train = DataLoader(make(xtr, ytr), 64, shuffle=True, drop_last=True)
    valid = DataLoader(make(xva, yva), 280)
    model = Net(x.shape[1])
    print(f"auc before training {baseline(model, valid):.4f}")
    trainer = L.Trainer(max_epochs=25, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, callbacks=[Report()])
    trainer.fit(model, train, valid)
    print(f"auc after training {trainer.callback_metrics['val_auc']:.4f}  "
          f"val loss {trainer.callback_metrics['val_loss']:.4f}")


if __name__ == "__main__":
    main()
