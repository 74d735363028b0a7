import torch
import torch.nn as nn

torch.manual_seed(11)
torch.set_num_threads(1)


def houses(n):
    area = torch.rand(n) * 250 + 30
    lot = torch.rand(n) * 20000 + 500
    year = torch.randint(1900, 2022, (n,)).float()
    rooms = torch.randint(1, 8, (n,)).float()
    dist = torch.rand(n) * 0.5
    price = 0.012 * area + 0.00004 * lot + 0.008 * (year - 1960) + 0.2 * rooms - 3 * dist
    price = price + 0.1 * torch.randn(n)
    target = ((price - 2.3) / 1.4).unsqueeze(1)
    return torch.stack([area / 70 - 2, lot / 6000 - 2, (year - 1960) / 35, rooms / 2 - 2, dist * 7 - 2], 1), target


x_train, y_train = houses(1000)
x_test, y_test = houses(300)

net = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
mse = nn.MSELoss()
for epoch in range(40):
    perm = torch.randperm(len(x_train))
    for i in range(0, len(perm), 50):
        rows = perm[i:i + 50]
        pred = net(x_train[rows])
        loss = mse(pred, y_train[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 10 == 9:
        with torch.no_grad():
            print(epoch + 1, "train", round(loss.item(), 4), "test mse", round(mse(net(x_test), y_test).item(), 4))
