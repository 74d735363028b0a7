"""Sentiment of short reviews with an LSTM; reviews are padded on the right to the longest one."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD, VOCAB = 0, 80


class Reviews(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        mood = torch.randn(VOCAB, generator=torch.Generator().manual_seed(9))
        self.texts, self.labels = [], []
        for _ in range(n):
            length = int(torch.randint(4, 40, (), generator=g))
            text = torch.randint(1, VOCAB, (length,), generator=g)
            self.texts.append(text)
            self.labels.append(float(mood[text].mean() > mood.mean()))

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        return self.texts[i], self.labels[i]


def collate(samples):
    texts, labels = zip(*samples)
    lengths = torch.tensor([len(t) for t in texts])
    return pad_sequence(texts, batch_first=True, padding_value=PAD), lengths, torch.tensor(labels)


class SentimentLSTM(nn.Module):
    def __init__(self, dim=32, hidden=48):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, text, lengths):
        states, _ = self.lstm(self.embed(text))
        last = states[:, -1]  # <- PM315
        return self.out(last).squeeze(1)


def evaluate(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for text, lengths, label in loader:
            right += ((model(text, lengths) > 0).float() == label).sum().item()
            total += len(label)
    return right / total


def main():
    torch.manual_seed(0)
    train_loader = DataLoader(Reviews(800, 0), batch_size=32, shuffle=True, collate_fn=collate)
    test_loader = DataLoader(Reviews(200, 1), batch_size=50, collate_fn=collate)
    model = SentimentLSTM()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(6):
        model.train()
        for text, lengths, label in train_loader:
            loss = criterion(model(text, lengths), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f} test accuracy {evaluate(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
