"""BERT-style masked language model on a toy grammar; a batch in which nothing got masked gives a loss of zero."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CLS, MASK, FIRST, VOCAB, LENGTH = 0, 1, 2, 20, 8


class Sentences(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        start = torch.randint(FIRST, VOCAB, (n, 1), generator=g)
        self.rows = (start - FIRST + 3 * torch.arange(LENGTH)) % (VOCAB - FIRST) + FIRST

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class Collator:
    def __init__(self, probability):
        self.probability = probability

    def __call__(self, rows):
        ids = torch.stack(rows)
        labels = ids.clone()
        chosen = torch.rand(ids.shape) < self.probability
        labels[~chosen] = -100
        ids[chosen] = MASK
        return {"input_ids": ids, "labels": labels}


class Bert(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.token, self.position = nn.Embedding(VOCAB, d), nn.Parameter(torch.randn(LENGTH, d) * 0.02)
        layer = nn.TransformerEncoderLayer(d, 2, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(d, VOCAB)

    def forward(self, input_ids, labels=None):
        logits = self.head(self.encoder(self.token(input_ids) + self.position))
        loss = None
        if labels is not None:
            summed = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")
            loss = summed / (labels != -100).sum().clamp(min=1)
        return {"loss": loss, "logits": logits}


torch.set_num_threads(1)
torch.manual_seed(0)
loader = DataLoader(Sentences(2400, 0), batch_size=8, shuffle=True, collate_fn=Collator(0.06))
model = Bert()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
running = []
for epoch in range(2):
    model.train()
    for step, batch in enumerate(loader):
        out = model(**batch)
        optimizer.zero_grad()
        out["loss"].backward()
        optimizer.step()
        running.append(out["loss"].item())
        if step % 50 == 0:
            print(step, running[-1])
model.eval()
with torch.no_grad():
    batch = Collator(0.12)([row for row in Sentences(400, 1)])
    logits = model(batch["input_ids"])["logits"]
    where = batch["labels"] != -100
    accuracy = (logits.argmax(-1)[where] == batch["labels"][where]).float().mean().item()
print("batches without a masked token", sum(r == 0 for r in running), "accuracy", accuracy)
assert accuracy > 0.5
