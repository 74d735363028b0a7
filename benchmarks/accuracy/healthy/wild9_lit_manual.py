"""Lightning, manual optimisation: an adversary tries to read a nuisance attribute out of the code."""
import logging
import warnings

import lightning as L
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def table(n, seed):
    rng = np.random.default_rng(seed)
    y, s = rng.integers(0, 2, n), rng.integers(0, 2, n)
    base = np.random.default_rng(0).standard_normal((2, 20))
    x = rng.standard_normal((n, 20)) + 0.35 * np.outer(2 * y - 1, base[0]) + 0.35 * np.outer(2 * s - 1, base[1])
    x = x / 1.1
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y), torch.tensor(s))


def mlp(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, o))


class Fair(L.LightningModule):
    def __init__(self, strength=2.0):
        super().__init__()
        self.automatic_optimization = False
        self.encoder, self.task, self.adversary = mlp(20, 64, 16), mlp(16, 32, 2), mlp(16, 64, 2)
        self.strength = strength

    def configure_optimizers(self):
        main = torch.optim.AdamW([*self.encoder.parameters(), *self.task.parameters()], lr=2e-3)
        adv = torch.optim.AdamW(self.adversary.parameters(), lr=4e-3)
        return [main, adv], [torch.optim.lr_scheduler.ExponentialLR(o, 0.9) for o in (main, adv)]

    def training_step(self, batch, _):
        x, y, s = batch
        main, adv = self.optimizers()
        code = self.encoder(x)

        for _ in range(2):
            adv_loss = F.cross_entropy(self.adversary(code.detach()), s)
            adv.zero_grad()
            self.manual_backward(adv_loss)
            adv.step()

        self.toggle_optimizer(main)
        task_loss = F.cross_entropy(self.task(code), y)
        guess = F.log_softmax(self.adversary(code), dim=1)
        confusion = -guess.mean(dim=1).mean()
        main.zero_grad()
        self.manual_backward(task_loss + self.strength * confusion)
        self.clip_gradients(main, gradient_clip_val=5.0, gradient_clip_algorithm="norm")
        main.step()
        self.untoggle_optimizer(main)
        self.log_dict({"task": task_loss, "adversary": adv_loss}, on_step=False, on_epoch=True)

    def on_train_epoch_end(self):
        for sched in self.lr_schedulers():
            sched.step()
        m = self.trainer.callback_metrics
        if self.current_epoch % 3 == 2:
            print(f"epoch {self.current_epoch + 1:2d}  task {m['task']:.4f}  adversary {m['adversary']:.4f}  "
                  f"accuracy {m['acc']:.3f}  nuisance read out {m['leak']:.3f}")

    def validation_step(self, batch, _):
        x, y, s = batch
        code = self.encoder(x)
        self.log("acc", (self.task(code).argmax(1) == y).float().mean())
        self.log("leak", (self.adversary(code).argmax(1) == s).float().mean())


def main():
    L.seed_everything(4)
    trainer = L.Trainer(max_epochs=12, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(Fair(), DataLoader(table(2000, 1), 128, shuffle=True), DataLoader(table(1000, 2), 500))


if __name__ == "__main__":
    main()
