"""POS-like tagging with time-first logits and batch-first labels."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
V, C, T = 30, 5, 10
x = torch.randint(0, V, (800, T))
y = (x * 7 // 3) % C


class LSTMTagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.word_embeddings = nn.Embedding(V, 24)
        self.lstm = nn.LSTM(24, 32)
        self.hidden2tag = nn.Linear(32, C)

    def forward(self, sentence):
        embeds = self.word_embeddings(sentence.t())
        out, _ = self.lstm(embeds)
        return self.hidden2tag(out)


model = LSTMTagger()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()
train = DataLoader(TensorDataset(x[:640], y[:640]), batch_size=32, shuffle=True)
for epoch in range(5):
    model.train()
    for sent, tags in train:
        optimizer.zero_grad()
        scores = model(sent)
        loss = criterion(scores.transpose(0, 1).reshape(-1, C), tags.view(-1))
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        acc = (model(x[640:]).argmax(-1).t() == y[640:]).float().mean().item()
    print(epoch, loss.item(), acc)
