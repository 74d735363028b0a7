# Text classification with an embedding bag, after the usual tutorial.
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

random.seed(3)
torch.manual_seed(3)
VOCAB, TOPICS = 400, 4


def article():
    topic = random.randrange(TOPICS)
    own = range(topic * 60, topic * 60 + 60)
    words = [random.choice(own) if random.random() < 0.35 else random.randrange(VOCAB) for _ in range(random.randint(12, 40))]
    return words, topic


def collate(batch):
    offsets = [0]
    for words, _ in batch[:-1]:
        offsets.append(offsets[-1] + len(words))
    text = torch.tensor([w for words, _ in batch for w in words])
    return text, torch.tensor(offsets), torch.tensor([t for _, t in batch])


class TopicModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embedding = nn.EmbeddingBag(VOCAB, dim, mode="mean")
        self.fc1 = nn.Linear(dim, 64)
        self.fc2 = nn.Linear(64, TOPICS)

    def forward(self, text, offsets):
        x = F.relu(self.fc1(self.embedding(text, offsets)))
        return F.softmax(self.fc2(x), dim=1)


articles = [article() for _ in range(1800)]
train_loader = DataLoader(articles[:1500], batch_size=25, shuffle=True, collate_fn=collate)
test_loader = DataLoader(articles[1500:], batch_size=50, collate_fn=collate)

model = TopicModel()
criterion = nn.NLLLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)

for epoch in range(1, 7):
    model.train()
    losses = []
    for text, offsets, topic in train_loader:
        optimizer.zero_grad()
        output = model(text, offsets)
        loss = criterion(output, topic)  # <- PM504
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    hits = 0
    with torch.no_grad():
        for text, offsets, topic in test_loader:
            hits += (model(text, offsets).argmax(1) == topic).sum().item()
    print("epoch %d  loss %.4f  test accuracy %.3f" % (epoch, sum(losses) / len(losses), hits / 300))
