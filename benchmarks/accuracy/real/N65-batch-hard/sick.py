"""Batch-hard triplets for re-identification: distances between all pairs of a batch."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Gallery(Dataset):
    def __init__(self, identities=30, shots=16):
        g = torch.Generator().manual_seed(6)
        centre = torch.randn(identities, 20, generator=g)
        self.pid = torch.arange(identities).repeat_interleave(shots)
        self.x = centre[self.pid] + 0.9 * torch.randn(len(self.pid), 20, generator=g)

    def __len__(self):
        return len(self.pid)

    def __getitem__(self, i):
        return self.x[i], self.pid[i]


class PKSampler:
    """P identities with K pictures each."""

    def __init__(self, pid, p=6, k=4, batches=60):
        self.pid, self.p, self.k, self.batches = pid, p, k, batches

    def __len__(self):
        return self.batches

    def __iter__(self):
        for _ in range(self.batches):
            batch = []
            for identity in torch.randperm(int(self.pid.max()) + 1)[: self.p]:
                members = torch.nonzero(self.pid == identity).flatten()
                batch += members[torch.randperm(len(members))[: self.k]].tolist()
            yield batch


def pairwise(z):
    square = (z.unsqueeze(0) - z.unsqueeze(1)).pow(2).sum(-1)
    return square.sqrt()  # <- PM103


def batch_hard(z, pid, margin=0.3):
    d = pairwise(z)
    same = pid.unsqueeze(0) == pid.unsqueeze(1)
    hardest_positive = (d * same).max(dim=1).values
    hardest_negative = (d + 1e3 * same).min(dim=1).values
    return F.relu(hardest_positive - hardest_negative + margin).mean()


if __name__ == "__main__":
    torch.manual_seed(1)
    gallery = Gallery()
    loader = DataLoader(gallery, batch_sampler=PKSampler(gallery.pid))
    net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 16))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(4):
        for x, pid in loader:
            loss = batch_hard(net(x), pid)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} triplet {loss.item():.4f}")
