"""Short documents of made-up words, classified by a small BERT."""

import torch
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForSequenceClassification

torch.manual_seed(0)
torch.set_num_threads(1)
cfg = BertConfig(
    vocab_size=60,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=64,
    max_position_embeddings=40,
    num_labels=2,
)
model = BertForSequenceClassification(cfg)


def sample():
    n = int(torch.randint(5, 30, (1,)))
    t = torch.randint(5, 60, (n,))
    return t, int((t > 40).float().mean() > 0.35)


def collate(rows):
    L = max(len(t) for t, _ in rows)
    ids = torch.zeros(len(rows), L, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, (t, _) in enumerate(rows):
        ids[i, : len(t)] = t
        mask[i, : len(t)] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.tensor([y for _, y in rows])}


data = [sample() for _ in range(800)]
val = [sample() for _ in range(200)]
opt = torch.optim.AdamW(model.parameters(), 1e-3)
for epoch in range(3):
    model.train()
    for b in DataLoader(data, 16, shuffle=True, collate_fn=collate):
        out = model(input_ids=b["input_ids"], labels=b["labels"], attention_mask=b["attention_mask"])
        opt.zero_grad()
        out.loss.backward()
        opt.step()
    model.eval()
    hit = 0
    with torch.no_grad():
        for b in DataLoader(val, 32, collate_fn=collate):
            hit += (
                (
                    model(input_ids=b["input_ids"], attention_mask=b["attention_mask"]).logits.argmax(-1)
                    == b["labels"]
                )
                .sum()
                .item()
            )
    print(epoch, out.loss.item(), hit / 200)
