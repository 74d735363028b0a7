"""Forecasting with a loss that is summed up for the log."""
import torch
import torch.nn as nn

torch.manual_seed(1)
t = torch.arange(0, 1500) * 0.07
series = torch.sin(t) + 0.4 * torch.sin(2.3 * t) + 0.05 * torch.randn(1500)
win = series.unfold(0, 21, 1)
X, Y = win[:, :20, None], win[:, 20:]
model = nn.LSTM(1, 24, batch_first=True)
head = nn.Linear(24, 1)
opt = torch.optim.Adam(list(model.parameters()) + list(head.parameters()), lr=5e-3)
mse = nn.MSELoss()
for epoch in range(3):
    total_loss = 0
    for k, i in enumerate(torch.randperm(1000).split(40)):
        out, _ = model(X[i])
        loss = mse(head(out[:, -1]), Y[i])
        opt.zero_grad()
        total_loss += loss
        total_loss.backward(retain_graph=True)  # <- PM703
        opt.step()
    print(epoch, float(total_loss) / (k + 1))
    with torch.no_grad():
        print("  val", mse(head(model(X[1000:])[0][:, -1]), Y[1000:]).item())
