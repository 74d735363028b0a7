import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
torch.set_num_threads(1)

X, y = load_diabetes(return_X_y=True)
X = StandardScaler().fit_transform(X[:, :])
y = (y - y[:330].mean()) / y[:330].std()
X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32).unsqueeze(1)
train = DataLoader(TensorDataset(X[:330], y[:330]), batch_size=110, shuffle=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 32)
        self.fc2 = nn.Linear(32, 32)
        self.fc3 = nn.Linear(32, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


net = Net()
loss_fn = nn.MSELoss()
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
for epoch in range(60):
    for xb, yb in train:
        opt.zero_grad()
        loss = loss_fn(net(xb), yb)
        loss.backward()
        opt.step()
    if epoch % 12 == 11:
        with torch.no_grad():
            res = net(X[330:]) - y[330:]
            r2 = 1 - (res ** 2).sum() / ((y[330:] - y[330:].mean()) ** 2).sum()
        print(f"epoch {epoch + 1}  train loss {loss.item():.4f}  test R2 {r2.item():.3f}")
