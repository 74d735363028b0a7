import torch
import torch.nn.functional as F
from accelerate import Accelerator
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Probe(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 64), nn.GELU())
        self.head = nn.Linear(64, classes)

    def forward(self, x):
        return self.head(self.trunk(x))


class VLATrainer:
    def __init__(self, accelerator, model, optimizer, loader):
        self.accelerator = accelerator
        self.model, self.optimizer, self.loader = accelerator.prepare(model, optimizer, loader)
        self.completed_steps = 0

    def _train_step(self, batch):
        x, y = batch
        with self.accelerator.accumulate(self.model):
            self.optimizer.zero_grad()  # <- PM602
            loss = F.cross_entropy(self.model(x), y)
            self.accelerator.backward(loss)
            self.optimizer.step()
        return loss.detach()

    def train(self, epochs, evaluate):
        for epoch in range(epochs):
            total = 0.0
            for batch in self.loader:
                total += self._train_step(batch).item()
                if self.accelerator.sync_gradients:
                    self.completed_steps += 1
            print(f"epoch {epoch} updates {self.completed_steps} loss {total / len(self.loader):.3f} val acc {evaluate(self.model):.3f}")


def main():
    torch.manual_seed(92)
    torch.set_num_threads(1)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    train, val = TensorDataset(x[:1400], y[:1400]), (x[1400:], y[1400:])
    accelerator = Accelerator(gradient_accumulation_steps=8, cpu=True)
    model = Probe()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.15)

    @torch.no_grad()
    def evaluate(model):
        return (model(val[0]).argmax(1) == val[1]).float().mean().item()

    trainer = VLATrainer(accelerator, model, optimizer, DataLoader(train, batch_size=8, shuffle=True))
    trainer.train(epochs=6, evaluate=evaluate)


main()
