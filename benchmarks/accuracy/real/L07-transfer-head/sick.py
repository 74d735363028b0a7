"""Transfer learning: a frozen feature extractor and a small binary head (tumour or not)."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from torch import nn


class TransferLearningModel(nn.Module):
    def __init__(self, num_inputs: int, num_filters: int = 128, lr: float = 1e-2):
        super().__init__()
        self.lr = lr
        self.feature_extractor = nn.Sequential(nn.Linear(num_inputs, num_filters), nn.ReLU())
        for p in self.feature_extractor.parameters():
            p.requires_grad = False
        self.fc = nn.Sequential(nn.Linear(num_filters, 32), nn.ReLU(), nn.Linear(32, 1))
        self.loss_func = F.binary_cross_entropy_with_logits

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.feature_extractor(x)
        x = self.fc(x)
        return torch.sigmoid(x)  # <- PM503

    def predict(self, x: torch.Tensor) -> torch.Tensor:
        return self(x)

    def loss(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return self.loss_func(input=logits, target=labels)

    def configure_optimizers(self):
        return torch.optim.Adam([p for p in self.parameters() if p.requires_grad], lr=self.lr)


def fit(model, x, y, epochs, batch_size=64):
    optimizer = model.configure_optimizers()
    for epoch in range(epochs):
        model.train()
        running = 0.0
        perm = torch.randperm(len(x))
        for i in range(0, len(x), batch_size):
            idx = perm[i:i + batch_size]
            y_true = y[idx].view((-1, 1)).float()
            train_loss = model.loss(model(x[idx]), y_true)
            optimizer.zero_grad()
            train_loss.backward()
            optimizer.step()
            running += train_loss.item()
        print(f"epoch {epoch} loss {running:.3f}")


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_num_threads(1)
    data = load_breast_cancer()
    x = (data.data - data.data.mean(0)) / data.data.std(0)
    x_tr, x_te, y_tr, y_te = train_test_split(x, data.target, random_state=0)
    x_tr, x_te = (torch.tensor(a, dtype=torch.float32) for a in (x_tr, x_te))
    y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)
    model = TransferLearningModel(30)
    fit(model, x_tr, y_tr, epochs=12)
    model.eval()
    with torch.no_grad():
        y_hat = model.predict(x_te).squeeze(1)
    print("accuracy", ((y_hat > 0.5).long() == y_te).float().mean().item(), "positives", (y_hat > 0.5).float().mean().item())
