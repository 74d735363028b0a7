"""Multi-task text tagging: the task head is exchanged for a new label set before fine-tuning."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(2019)
VOCAB = 40


class BagOfWordsTagger(nn.Module):
    def __init__(self, num_labels):
        super().__init__()
        self.embedding = nn.EmbeddingBag(VOCAB, 24)
        self.hidden = nn.Linear(24, 24)
        self.scoring = nn.Linear(24, num_labels)

    def forward(self, tokens):
        return self.scoring(torch.tanh(self.hidden(self.embedding(tokens))))


class MTDNNModel:
    def __init__(self, num_labels, lr):
        self.network = BagOfWordsTagger(num_labels=2)
        self.optimizer = torch.optim.Adagrad(self.network.parameters(), lr=lr)  # <- PM407
        self.network.scoring = nn.Linear(24, num_labels)
        self.updates = 0

    def update(self, tokens, labels):
        self.network.train()
        loss = nn.functional.cross_entropy(self.network(tokens), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        return loss.item()

    def predict(self, tokens):
        self.network.eval()
        with torch.no_grad():
            return self.network(tokens).argmax(1)


def documents(n, topics=4):
    label = torch.randint(topics, (n,))
    span = VOCAB // topics
    own = label[:, None] * span + torch.randint(span, (n, 6))
    noise = torch.randint(VOCAB, (n, 10))
    return torch.cat([own, noise], dim=1), label


train_tokens, train_labels = documents(1200)
dev_tokens, dev_labels = documents(300)
loader = DataLoader(TensorDataset(train_tokens, train_labels), batch_size=40, shuffle=True)
model = MTDNNModel(num_labels=4, lr=0.05)
for epoch in range(5):
    losses = [model.update(tokens, labels) for tokens, labels in loader]
    accuracy = (model.predict(dev_tokens) == dev_labels).float().mean().item()
    print(f"epoch {epoch} loss {sum(losses) / len(losses):.3f} dev accuracy {accuracy:.3f}")
