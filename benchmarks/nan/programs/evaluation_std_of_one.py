"""Only the evaluation meets a batch of one sample, whose standard deviation does not exist."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.out = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x):
        h = self.fc(x)
        h = (h - h.mean(0)) / (h.std(0) + 1e-6)  # <- PM102 std
        return self.out(h)


x = torch.randn(289, 6)
y = x[:, :3].argmax(1)
data = torch.utils.data.TensorDataset(x, y)
train = torch.utils.data.DataLoader(torch.utils.data.Subset(data, range(192)), batch_size=32, shuffle=True)
held_out = torch.utils.data.DataLoader(torch.utils.data.Subset(data, range(192, 289)), batch_size=32)
model, criterion = Net(), nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(6):
    model.train()
    for inputs, labels in train:
        loss = criterion(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    losses = []
    with torch.no_grad():
        for inputs, labels in held_out:
            logits = model(inputs)
            losses.append(F.cross_entropy(logits, labels))
    print("validation", torch.stack(losses).mean().item())
