# A linear SVM on top of a small network, hinge loss by hand.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
N, WORDS = 2400, 60
spam = (torch.rand(N) < 0.5).long()
rate = torch.full((2, WORDS), 0.4)
rate[1, :15] = 1.0
rate[0, 15:30] = 0.9
counts = torch.poisson(rate[spam])
features = torch.log1p(counts)

train_loader = DataLoader(TensorDataset(features[:2000], spam[:2000]), batch_size=40, shuffle=True)
test_x, test_y = features[2000:], spam[2000:]

net = nn.Sequential(nn.Linear(WORDS, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)


def hinge(score, label):
    return torch.clamp(1 - (2 * label - 1) * score, min=0).mean()


for epoch in range(8):
    net.train()
    running = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = hinge(net(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
        running += loss.item()
    net.eval()
    with torch.no_grad():
        predicted = (net(test_x).squeeze(1) > 0).long()
    accuracy = (predicted == test_y).float().mean().item()
    print(f"epoch {epoch}: hinge {running / len(train_loader):.3f} test accuracy {accuracy:.3f}")
