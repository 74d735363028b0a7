import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(7)
torch.set_num_threads(1)

VOCAB, CLASSES, LEN = 200, 5, 20
topic = torch.rand(CLASSES, VOCAB).pow(6)


def corpus(per_class):
    docs, labels = [], []
    for c in range(CLASSES):
        docs.append(torch.multinomial(topic[c].expand(per_class, -1), LEN, replacement=True))
        labels.append(torch.full((per_class,), c))
    return TensorDataset(torch.cat(docs), torch.cat(labels))


class BagOfWords(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(VOCAB, 24)
        self.fc = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, CLASSES))

    def forward(self, x):
        return self.fc(self.emb(x))


train_set, val_set = corpus(400), corpus(80)
train_loader = DataLoader(train_set, batch_size=10)  # <- PM306
val_loader = DataLoader(val_set, batch_size=100)
model = BagOfWords()
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.5)
criterion = nn.CrossEntropyLoss()

for epoch in range(5):
    model.train()
    for docs, labels in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(docs), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    good = 0
    with torch.no_grad():
        for docs, labels in val_loader:
            good += (model(docs).argmax(1) == labels).sum().item()
    print(f"Epoch {epoch}: last loss {loss.item():.4f}, val acc {good / len(val_set):.3f}")
