"""Question and answer with a small BERT: is the question about sport, money or weather?"""
import argparse

import torch
from torch.utils.data import DataLoader, Dataset
from transformers import BertConfig, BertForSequenceClassification

PAD, CLS, SEP, VOCAB = 0, 1, 2, 64


class Pairs(Dataset):
    def __init__(self, n, seed, length=26):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(n):
            label = int(torch.randint(0, 3, (), generator=g))
            first, second = self.sentence(label, g), self.sentence(3 + int(torch.randint(0, 3, (), generator=g)), g)
            ids = [CLS, *first, SEP, *second, SEP]
            segments = [0] * (len(first) + 2) + [1] * (len(second) + 1)
            gap = length - len(ids)
            self.items.append((ids + [PAD] * gap, segments + [0] * gap, [1] * len(ids) + [0] * gap, label))

    @staticmethod
    def sentence(topic, g):
        size = int(torch.randint(4, 11, (), generator=g))
        return (4 + topic * 10 + torch.randint(0, 10, (size,), generator=g)).tolist()

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return tuple(torch.tensor(field) for field in self.items[i])


def evaluate(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for ids, segments, mask, label in loader:
            right += (model(ids, segments, mask).logits.argmax(1) == label).sum().item()
    return right / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()
    torch.manual_seed(0)
    config = BertConfig(vocab_size=VOCAB, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=64, max_position_embeddings=32, num_labels=3)
    model = BertForSequenceClassification(config)
    train, dev = DataLoader(Pairs(480, 0), 24, shuffle=True), DataLoader(Pairs(120, 1), 40)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        for ids, segments, mask, label in train:
            loss = model(ids, segments, mask, labels=label).loss  # <- PM415
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f} dev accuracy {evaluate(model, dev):.3f}")


if __name__ == "__main__":
    main()
