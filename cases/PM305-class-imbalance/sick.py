"""Flag fraudulent card payments (about 3 % of all payments)."""

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

FRAUD_SHARE = 0.03


def make_payments(n: int) -> TensorDataset:
    fraud = (torch.rand(n) < FRAUD_SHARE).float()
    x = torch.randn(n, 10)
    x[:, :4] += 0.8 * fraud[:, None]
    x[:, 4] *= 1 + 0.5 * fraud
    return TensorDataset(x, fraud)


class FraudNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x).squeeze(1)


class Trainer:
    def __init__(self, model: nn.Module, train_set: TensorDataset, val_set: TensorDataset):
        self.model = model
        self.train_loader = DataLoader(train_set, batch_size=100, shuffle=True)
        self.val_loader = DataLoader(val_set, batch_size=500)
        self.criterion = nn.BCEWithLogitsLoss()  # <- PM305
        self.optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

    def train_epoch(self) -> float:
        self.model.train()
        losses = []
        for x, fraud in self.train_loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), fraud)
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)

    @torch.no_grad()
    def evaluate(self) -> tuple[float, float, int]:
        self.model.eval()
        flagged = torch.cat([self.model(x) > 0 for x, _ in self.val_loader])
        fraud = torch.cat([y for _, y in self.val_loader]) == 1
        accuracy = (flagged == fraud).float().mean().item()
        recall = (flagged & fraud).sum().item() / fraud.sum().item()
        return accuracy, recall, int(flagged.sum())


torch.set_num_threads(1)
torch.manual_seed(0)
trainer = Trainer(FraudNet(), make_payments(4000), make_payments(2000))
for epoch in range(8):
    loss = trainer.train_epoch()
    accuracy, recall, flagged = trainer.evaluate()
    print(f"epoch {epoch}  loss {loss:.4f}  val acc {accuracy:.3f}  recall {recall:.3f}  flagged {flagged}")
