"""Where is the bright patch? Boxes as corners, and pictures that are mirrored at random: with the edges exchanged."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(0)
SIZE = 16


class Patches(Dataset):
    def __init__(self, count, mirror):
        start = torch.randint(0, 9, (count, 2))
        self.boxes = torch.cat([start, start + torch.randint(3, 7, (count, 2))], 1).float()
        self.pictures = 0.1 * torch.randn(count, 1, SIZE, SIZE)
        for picture, (x0, y0, x1, y1) in zip(self.pictures, self.boxes.int().tolist()):
            picture[0, y0:y1, x0:x1] += 1
        self.mirror = mirror

    def __len__(self):
        return len(self.boxes)

    def __getitem__(self, index):
        picture, box, turned = self.pictures[index], self.boxes[index].clone(), self.mirror and torch.rand(()) < 0.5
        edges = SIZE - box[[2, 0]] if turned else box[[0, 2]]
        box[[0, 2]] = edges
        return picture.flip(-1) if turned else picture, box / SIZE


train_loader = DataLoader(Patches(512, mirror=True), batch_size=32, shuffle=True)
held_out = DataLoader(Patches(128, mirror=False), batch_size=32)
model = nn.Sequential(nn.Flatten(), nn.Linear(SIZE * SIZE, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(6):
    model.train()
    for picture, box in train_loader:
        loss = nn.functional.smooth_l1_loss(model(picture), box)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        off = torch.cat([(model(picture) - box).abs().mean(1) for picture, box in held_out]).mean()
    print(f"epoch {epoch}: loss {loss.item():.4f}, edges off by {SIZE * off.item():.2f} pixels")
