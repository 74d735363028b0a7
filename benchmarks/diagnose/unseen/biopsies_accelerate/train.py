from pathlib import Path

import numpy as np
import pandas as pd
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

HERE = Path(__file__).parent
torch.set_num_threads(1)


def load():
    cells = pd.read_csv(HERE / "measurements.csv")
    path = pd.read_csv(HERE / "pathology.csv")
    df = cells.assign(malignant=path["malignant"])
    X = df.drop(columns=["sample_id", "malignant"]).to_numpy(np.float32)
    y = df["malignant"].to_numpy(np.int64)
    return train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)


def main():
    set_seed(9)
    accelerator = Accelerator(cpu=True)
    xtr, xte, ytr, yte = load()
    sc = StandardScaler().fit(xtr)
    tr = TensorDataset(torch.tensor(sc.transform(xtr)).float(), torch.tensor(ytr))
    te = TensorDataset(torch.tensor(sc.transform(xte)).float(), torch.tensor(yte))
    train_dl = DataLoader(tr, batch_size=32, shuffle=True)
    test_dl = DataLoader(te, batch_size=64)

    model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, 24), nn.ReLU(), nn.Linear(24, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    model, optimizer, train_dl, test_dl = accelerator.prepare(model, optimizer, train_dl, test_dl)

    for epoch in range(60):
        model.train()
        running = 0.0
        for x, y in train_dl:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(x), y)
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
            running += loss.item()
        if (epoch + 1) % 10 == 0:
            model.eval()
            hits = total = 0
            for x, y in test_dl:
                with torch.no_grad():
                    pred = model(x).argmax(-1)
                pred, y = accelerator.gather_for_metrics((pred, y))
                hits += (pred == y).sum().item()
                total += len(y)
            accelerator.print(f"epoch {epoch + 1}: train_loss={running / len(train_dl):.4f} test_acc={hits / total:.4f}")


if __name__ == "__main__":
    main()
