"""Attentional factorisation machine for click prediction."""
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split

FIELDS = [8, 8, 6, 6]


class AttentionalFactorizationMachine(torch.nn.Module):
    def __init__(self, embed_dim, attn_size, dropouts):
        super().__init__()
        self.offsets = torch.tensor([0, *torch.tensor(FIELDS).cumsum(0)[:-1]])
        self.embedding = torch.nn.Embedding(sum(FIELDS), embed_dim)
        self.linear = torch.nn.EmbeddingBag(sum(FIELDS), 1, mode="sum")
        self.attention = torch.nn.Linear(embed_dim, attn_size)
        self.projection = torch.nn.Linear(attn_size, 1)
        self.fc = torch.nn.Linear(embed_dim, 1)
        self.dropouts = dropouts
        row, col = zip(*[(i, j) for i in range(len(FIELDS)) for j in range(i + 1, len(FIELDS))])
        self.row, self.col = list(row), list(col)

    def forward(self, x):
        x = x + self.offsets
        e = self.embedding(x)
        inner = e[:, self.row] * e[:, self.col]
        scores = F.softmax(self.projection(F.relu(self.attention(inner))), dim=1)
        scores = F.dropout(scores, p=self.dropouts[0], training=self.training)
        pooled = torch.sum(scores * inner, dim=1)
        pooled = F.dropout(pooled, p=self.dropouts[1], training=self.training)
        return (self.linear(x) + self.fc(pooled)).squeeze(1)


def clicks(n):
    x = torch.stack([torch.randint(size, (n,)) for size in FIELDS], dim=1)
    score = ((x[:, 0] % 2) == (x[:, 1] % 2)).float() * 2 - 1 + 0.4 * (x[:, 2] > 2).float()
    return TensorDataset(x, (torch.rand(n) < torch.sigmoid(2 * score)).float())


def test(model, loader):
    model.eval()
    with torch.no_grad():
        hits = [((model(fields) > 0).float() == target).float() for fields, target in loader]
    return torch.cat(hits).mean().item()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_set, valid_set = random_split(clicks(2560), [2048, 512])
    train_loader = DataLoader(train_set, batch_size=128, shuffle=True)
    valid_loader = DataLoader(valid_set, batch_size=256)
    model = AttentionalFactorizationMachine(16, 16, (0.3, 0.3))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2, weight_decay=1e-6)
    for epoch in range(8):
        model.train()
        for fields, target in train_loader:
            loss = F.binary_cross_entropy_with_logits(model(fields), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", round(loss.item(), 4), "validation", test(model, valid_loader), test(model, valid_loader))


if __name__ == "__main__":
    main()
