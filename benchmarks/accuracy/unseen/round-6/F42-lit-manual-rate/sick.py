import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class DigitModule(L.LightningModule):
    def __init__(self, lr=0.1, warmup=40):
        super().__init__()
        self.save_hyperparameters()
        self.automatic_optimization = False
        self.net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        self.correct = self.seen = 0

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        opt.zero_grad()
        self.manual_backward(loss)
        self.clip_gradients(opt, gradient_clip_val=5.0, gradient_clip_algorithm="norm")
        opt.step()
        return loss

    def on_validation_epoch_start(self):
        self.correct = self.seen = 0

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.correct += (self(x).argmax(1) == y).sum().item()
        self.seen += len(y)

    def on_validation_epoch_end(self):
        print(f"epoch {self.current_epoch}: validation accuracy {self.correct / self.seen:.3f}")

    def configure_optimizers(self):
        opt = torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9)
        warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / (10 * self.hparams.warmup)))
        return [opt], [{"scheduler": warm, "interval": "step"}]


if __name__ == "__main__":
    L.seed_everything(1, verbose=False)
    torch.set_num_threads(1)
    d = load_digits()
    x, y = torch.tensor(d.data, dtype=torch.float32) / 16, torch.tensor(d.target)
    train = DataLoader(TensorDataset(x[:1300], y[:1300]), batch_size=32, shuffle=True)
    val = DataLoader(TensorDataset(x[1300:], y[1300:]), batch_size=128)
    trainer = L.Trainer(max_epochs=12, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(DigitModule(), train, val)
