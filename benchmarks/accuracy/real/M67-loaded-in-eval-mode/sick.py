"""Fine-tune a small BERT that was saved by an earlier job, plain PyTorch loop."""
import os
import tempfile

import torch
from torch.utils.data import DataLoader, TensorDataset
from transformers import BertConfig, BertForSequenceClassification
from transformers.utils import logging

logging.set_verbosity_error()
logging.disable_progress_bar()


def earlier_job():
    config = BertConfig(vocab_size=80, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, max_position_embeddings=20, num_labels=3)
    folder = os.path.join(tempfile.mkdtemp(), "small-bert")
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def reviews(n):
    y = torch.randint(0, 3, (n,))
    ids = torch.randint(20, 80, (n, 12))
    ids[:, 0] = 1
    for k in range(1, 12, 3):
        ids[:, k] = 2 + y * 5 + torch.randint(0, 5, (n,))
    return TensorDataset(ids, y)


def evaluate(model, loader):
    with torch.no_grad():
        return sum((model(input_ids=ids).logits.argmax(1) == y).sum().item() for ids, y in loader) / len(loader.dataset)


def main():
    torch.manual_seed(0)
    model = BertForSequenceClassification.from_pretrained(earlier_job())
    train_loader = DataLoader(reviews(600), batch_size=24, shuffle=True)
    test_loader = DataLoader(reviews(200), batch_size=50)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    for epoch in range(3):
        for ids, y in train_loader:
            out = model(input_ids=ids, labels=y)  # <- PM611
            optimizer.zero_grad()
            out.loss.backward()
            optimizer.step()
        print(epoch, out.loss.item(), evaluate(model, test_loader))


main()
