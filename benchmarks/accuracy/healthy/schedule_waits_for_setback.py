"""Bags of words of any length; the learning rate is lowered only when the validation gets worse, which may never happen."""

import torch
from torch import nn
from torch.utils.data import DataLoader, random_split

torch.set_num_threads(1)
torch.manual_seed(14)
WORDS, TOPICS = 240, 4


def letter():
    topic = int(torch.randint(TOPICS, ()))
    words = torch.randint(0, WORDS, (int(torch.randint(6, 25, ())),))
    telling = torch.rand(len(words)) < 0.3
    words[telling] = torch.randint(40 * topic, 40 * topic + 40, (int(telling.sum()),))
    return topic, words


def together(letters):
    topics, words = zip(*letters, strict=True)
    starts = torch.tensor([0, *[len(each) for each in words[:-1]]]).cumsum(0)
    return torch.tensor(topics), torch.cat(words), starts


class Sorter(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(WORDS, 32)
        self.head = nn.Linear(32, TOPICS)

    def forward(self, words, starts):
        return self.head(self.bag(words, starts))


train, val = random_split([letter() for _ in range(1500)], [1300, 200])
train_loader = DataLoader(train, batch_size=16, shuffle=True, collate_fn=together)
val_loader = DataLoader(val, batch_size=50, collate_fn=together)
model, criterion = Sorter(), nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.1)
best = None
for epoch in range(4):
    model.train()
    for topics, words, starts in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(words, starts), topics)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(words, starts).argmax(1) == topics).sum().item() for topics, words, starts in val_loader)
    if best is not None and right < best:
        scheduler.step()
    else:
        best = right
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {right / len(val):.3f}")
