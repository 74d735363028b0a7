import torch
import torch.nn as nn


class LateOrderModel(nn.Module):
    def __init__(self, n_features, hidden=32):
        super().__init__()
        self.hidden = nn.Linear(n_features, hidden)
        self.relu = nn.ReLU()
        self.output = nn.Linear(hidden, 1)
        self.act = nn.Sigmoid()

    def forward(self, x):
        return self.act(self.output(self.relu(self.hidden(x))))


torch.manual_seed(0)
torch.set_num_threads(1)
X = torch.randn(2500, 8)
late = ((X[:, 0] + 0.7 * X[:, 3] * X[:, 4] + 0.3 * torch.randn(2500)) > 0.3).float().unsqueeze(1)
model = LateOrderModel(8)
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(20):
    model.train()
    epoch_loss = 0
    for idx in torch.randperm(2000).split(40):
        optimizer.zero_grad()
        out = model(X[idx])
        loss = criterion(out, late[idx])
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    if (epoch + 1) % 5 == 0:
        model.eval()
        with torch.no_grad():
            acc = ((model(X[2000:]) > 0.5).float() == late[2000:]).float().mean()
        print("Epoch %d, loss %.4f, test acc %.3f" % (epoch + 1, epoch_loss / 50, acc))
