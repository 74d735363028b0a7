import logging
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class EncodeAndGrade(L.LightningModule):
    """Squeezes sensor readings through a bottleneck and grades the part from the bottleneck."""

    def __init__(self, dim=40, code=6):
        super().__init__()
        self.automatic_optimization = False
        self.encoder = nn.Sequential(nn.Linear(dim, 48), nn.ReLU(), nn.Linear(48, code))
        self.decoder = nn.Sequential(nn.Linear(code, 48), nn.ReLU(), nn.Linear(48, dim))
        self.grader = nn.Sequential(nn.Linear(code, 32), nn.ReLU(), nn.Linear(32, 4))

    def configure_optimizers(self):
        ae = torch.optim.Adam([*self.encoder.parameters(), *self.decoder.parameters()], lr=2e-3)
        grade = torch.optim.SGD(self.grader.parameters(), lr=0.15, momentum=0.9)
        return ae, grade

    def training_step(self, batch, batch_idx):
        x, y = batch
        ae, grade = self.optimizers()

        code = self.encoder(x)
        rec = nn.functional.mse_loss(self.decoder(code), x)
        ae.zero_grad()
        self.manual_backward(rec)
        ae.step()

        loss = nn.functional.cross_entropy(self.grader(code.detach()), y)
        self.manual_backward(loss)  # <- PM601
        grade.step()
        self.log_dict({"rec": rec, "grade": loss})

    def validation_step(self, batch, batch_idx):
        x, y = batch
        code = self.encoder(x)
        self.log("val_rec", nn.functional.mse_loss(self.decoder(code), x))
        self.log("val_acc", (self.grader(code).argmax(1) == y).float().mean())


def parts(n, mix, centres):
    y = torch.randint(0, 4, (n,))
    z = centres[y] + 0.8 * torch.randn(n, 6)
    return TensorDataset(z @ mix + 0.3 * torch.randn(n, 40), y)


def main():
    L.seed_everything(0, verbose=False)
    torch.set_num_threads(1)
    mix, centres = torch.randn(6, 40) / 2, 1.5 * torch.randn(4, 6)
    train = DataLoader(parts(1200, mix, centres), batch_size=40, shuffle=True)
    val = DataLoader(parts(400, mix, centres), batch_size=200)
    model = EncodeAndGrade()
    trainer = L.Trainer(max_epochs=6, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(model, train, val)
    m = trainer.callback_metrics
    print(f"reconstruction {m['val_rec']:.3f} grading loss {m['grade']:.3f} accuracy {m['val_acc']:.3f}")


if __name__ == "__main__":
    main()
