import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class AutoSizeCNN(nn.Module):
    def __init__(self, n_classes=10):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.bottleneck = None
        self.out = nn.Linear(12, n_classes)

    def forward(self, x):
        x = F.relu(self.conv(x)).flatten(1)
        if self.bottleneck is None:
            self.bottleneck = nn.Linear(x.size(1), 12)
        return self.out(F.relu(self.bottleneck(x)))


torch.manual_seed(3)
torch.set_num_threads(1)
data = load_digits()
imgs = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
labels = torch.tensor(data.target)

cnn = AutoSizeCNN()
cnn(imgs[:2])
optimizer = torch.optim.Adam(cnn.parameters(), lr=2e-3)
for epoch in range(12):
    cnn.train()
    for idx in torch.randperm(1300).split(32):
        optimizer.zero_grad()
        loss = F.cross_entropy(cnn(imgs[idx]), labels[idx])
        loss.backward()
        optimizer.step()
    cnn.eval()
    with torch.no_grad():
        acc = (cnn(imgs[1300:]).argmax(1) == labels[1300:]).float().mean().item()
    if epoch % 3 == 2:
        print("epoch", epoch + 1, "loss", round(loss.item(), 3), "accuracy", round(acc, 3))
