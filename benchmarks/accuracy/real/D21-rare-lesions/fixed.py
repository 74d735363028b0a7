"""Lesion or background from ten texture features; about three in a hundred patches show a lesion."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)


def patches(n):
    lesion = (torch.rand(n, 1) < 0.028).float()
    texture = torch.randn(n, 10)
    texture[:, :3] += 0.9 * lesion
    return TensorDataset(texture, lesion)


train_set, test_set = patches(4000), patches(2000)
loader = DataLoader(train_set, batch_size=100, shuffle=True)
test_loader = DataLoader(test_set, batch_size=500)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([34.7]))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(10):
    model.train()
    running = 0.0
    for texture, lesion in loader:
        optimizer.zero_grad()
        loss = criterion(model(texture), lesion)
        loss.backward()
        optimizer.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        logits = torch.cat([model(x) for x, _ in test_loader])
        truth = torch.cat([y for _, y in test_loader]) > 0.5
    found = logits > 0
    accuracy = (found == truth).float().mean().item()
    recall = (found & truth).sum().item() / truth.sum().item()
    print(f"epoch {epoch} loss {running / len(loader):.4f} accuracy {accuracy:.3f} recall {recall:.3f}")
