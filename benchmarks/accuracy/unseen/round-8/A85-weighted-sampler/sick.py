"""Wine cultivars with a balanced sampler."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


class WineData:
    def __init__(self, seed=0, batch_size=16):
        x, y = load_wine(return_X_y=True)
        x_tr, x_te, y_tr, y_te = train_test_split(
            x, y, test_size=0.35, stratify=y, random_state=seed)
        mean, std = x_tr.mean(axis=0), x_tr.std(axis=0)
        self.train = self._pack((x_tr - mean) / std, y_tr)
        self.test = self._pack((x_te - mean) / std, y_te)
        self.batch_size = batch_size

    @staticmethod
    def _pack(x, y):
        return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))

    def train_loader(self):
        labels = self.train.tensors[1]
        counts = torch.bincount(labels)
        class_weights = 1.0 / counts.float()
        sampler = WeightedRandomSampler(class_weights, num_samples=len(self.train))
        return DataLoader(self.train, batch_size=self.batch_size, sampler=sampler)

    def test_loader(self):
        return DataLoader(self.test, batch_size=64)


class Classifier(nn.Module):
    def __init__(self, n_in, n_out, width=32, p=0.2):
        super().__init__()
        self.fc1 = nn.Linear(n_in, width)
        self.fc2 = nn.Linear(width, width)
        self.out = nn.Linear(width, n_out)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        x = self.drop(F.relu(self.fc1(x)))
        x = self.drop(F.relu(self.fc2(x)))
        return self.out(x)


def train_one_epoch(model, loader, optimizer):
    model.train()
    loss_sum, seen = 0.0, 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * len(y)
        seen += len(y)
    return loss_sum / seen


@torch.no_grad()
def test(model, loader):
    model.eval()
    preds, labels, loss = [], [], 0.0
    for x, y in loader:
        logits = model(x)
        loss += F.cross_entropy(logits, y, reduction="sum").item()
        preds.append(logits.argmax(1))
        labels.append(y)
    preds, labels = torch.cat(preds), torch.cat(labels)
    return loss / len(labels), balanced_accuracy_score(labels, preds)


if __name__ == "__main__":
    torch.manual_seed(42)
    data = WineData()
    train_loader, test_loader = data.train_loader(), data.test_loader()
    model = Classifier(13, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
    for epoch in range(1, 121):
        train_loss = train_one_epoch(model, train_loader, optimizer)
        if epoch % 20 == 0:
            test_loss, bal = test(model, test_loader)
            print(f"{epoch:3d} | train {train_loss:.4f} | test {test_loss:.4f} | balanced acc {bal:.3f}")
