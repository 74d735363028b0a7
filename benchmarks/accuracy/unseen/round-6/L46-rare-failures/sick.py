import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score, recall_score
from sklearn.model_selection import train_test_split


class FailureDetector:
    def __init__(self, n_in, lr=2e-3, epochs=25):
        self.model = nn.Sequential(nn.Linear(n_in, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 1))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.epochs = epochs

    def _criterion(self, y):
        n_pos, n_neg = (y == 1).sum(), (y == 0).sum()
        return nn.BCEWithLogitsLoss(pos_weight=n_pos / n_neg)  # <- PM305

    def fit(self, X, y, X_val, y_val):
        criterion = self._criterion(y)
        for epoch in range(self.epochs):
            self.model.train()
            running = 0.0
            for b in torch.randperm(len(X)).split(64):
                self.optimizer.zero_grad()
                loss = criterion(self.model(X[b]).squeeze(1), y[b])
                loss.backward()
                self.optimizer.step()
                running += loss.item()
            if epoch % 5 == 4:
                p = self.predict(X_val)
                print(f"epoch {epoch + 1}: loss {running:.3f}, recall {recall_score(y_val, p):.3f}, f1 {f1_score(y_val, p, zero_division=0):.3f}")
        return self

    def predict(self, X):
        self.model.eval()
        with torch.no_grad():
            return (self.model(X).squeeze(1) > 0).int().numpy()


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    X, y = make_classification(4000, 16, n_informative=6, weights=[0.93], class_sep=0.9, flip_y=0.01, random_state=3)
    Xt, Xv, yt, yv = train_test_split(X, y, test_size=0.25, stratify=y, random_state=3)
    as_t = lambda a: torch.tensor(a, dtype=torch.float32)
    FailureDetector(16).fit(as_t(Xt), as_t(yt), as_t(Xv), yv)
