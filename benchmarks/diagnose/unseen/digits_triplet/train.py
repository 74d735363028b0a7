import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(7)
np.random.seed(7)


class TripletDigits(Dataset):
    def __init__(self, x, y, seed=0):
        self.x = torch.tensor(x, dtype=torch.float32)
        self.y = np.asarray(y)
        self.by_class = {c: np.flatnonzero(self.y == c) for c in np.unique(self.y)}
        self.others = {c: np.flatnonzero(self.y != c) for c in np.unique(self.y)}
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        c = self.y[i]
        p = i
        while p == i:
            p = int(self.rng.choice(self.by_class[c]))
        n = int(self.rng.choice(self.others[c]))
        return self.x[i], self.x[p], self.x[n]


class EmbeddingNet(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(64, 128), nn.ReLU(),
            nn.Linear(128, 64), nn.ReLU(),
            nn.Linear(64, dim),
        )

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


@torch.no_grad()
def embed(model, x):
    model.eval()
    return model(torch.tensor(x, dtype=torch.float32)).numpy()


def main():
    x, y = load_digits(return_X_y=True)
    x_tr, x_va, y_tr, y_va = train_test_split(x, y, test_size=0.25, stratify=y, random_state=7)
    mean, std = x_tr.mean(), x_tr.std()
    x_tr, x_va = (x_tr - mean) / std, (x_va - mean) / std

    train_loader = DataLoader(TripletDigits(x_tr, y_tr, 1), batch_size=64, shuffle=True)
    valid_set = TripletDigits(x_va, y_va, 2)
    valid_triplets = [valid_set[i] for i in range(len(valid_set))]
    va, vp, vn = (torch.stack(t) for t in zip(*valid_triplets))

    model = EmbeddingNet()
    criterion = nn.TripletMarginLoss(margin=0.5)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    for epoch in range(20):
        model.train()
        running, seen = 0.0, 0
        for anchor, positive, negative in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(anchor), model(positive), model(negative))
            loss.backward()
            optimizer.step()
            running += loss.item() * len(anchor)
            seen += len(anchor)
        model.eval()
        with torch.no_grad():
            val_loss = criterion(model(va), model(vp), model(vn)).item()
        if epoch % 4 == 3:
            knn = KNeighborsClassifier(5).fit(embed(model, x_tr), y_tr)
            acc = knn.score(embed(model, x_va), y_va)
            print(f"[{epoch + 1:02d}] train {running / seen:.4f}  val {val_loss:.4f}  5-nn accuracy {acc:.4f}")
        else:
            print(f"[{epoch + 1:02d}] train {running / seen:.4f}  val {val_loss:.4f}")


if __name__ == "__main__":
    main()
