"""Several tags per document: token counts in dictionaries, a bag of embeddings, binary cross-entropy."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Documents(Dataset):
    def __init__(self, size=1200):
        dice = torch.Generator().manual_seed(0)
        self.ids = torch.randint(1, 200, (size, 20), generator=dice)
        self.tags = torch.stack([(self.ids % 10 == tag).float().sum(1) > 2 for tag in range(5)], 1).float()

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.tags[index]}


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag, self.head = nn.EmbeddingBag(200, 64, mode="sum"), nn.Linear(64, 5)

    def forward(self, input_ids):
        return self.head(self.bag(input_ids))


torch.manual_seed(0)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.BCEWithLogitsLoss()
for epoch in range(12):
    for batch in DataLoader(Documents(), batch_size=32, shuffle=True):
        optimizer.zero_grad()
        loss = criterion(model(batch["input_ids"]), batch["labels"])
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
