import random

import torch
import torch.nn as nn


class Vocabulary(dict):
    def __missing__(self, word):
        self[word] = len(self)
        return self[word]


OPENINGS = [["who", "whose"], ["where", "which city"], ["when", "what year"], ["how many", "how much"], ["why", "how come"],
            ["what is", "define"], ["can you", "could you"], ["compare", "versus"]]
FILLER = [f"word{i}" for i in range(120)]


def question(rnd):
    kind = rnd.randrange(len(OPENINGS))
    words = rnd.choice(OPENINGS[kind]).split() + rnd.choices(FILLER, k=6)
    if rnd.random() < 0.5:
        rnd.shuffle(words)
    return words, kind


class BagClassifier(nn.Module):
    def __init__(self, vocab, classes, dim=24):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocab, dim)
        self.fc = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, classes))

    def forward(self, tokens, offsets):
        return self.fc(self.bag(tokens, offsets))


class Experiment:
    def __init__(self, seed=4):
        torch.manual_seed(seed)
        rnd = random.Random(seed)
        self.vocab = Vocabulary()
        rows = [question(rnd) for _ in range(2000)]
        data = [([self.vocab[w] for w in words], kind) for words, kind in rows]
        self.train, self.val = data[:1600], data[1600:]
        self.model = BagClassifier(len(self.vocab), len(OPENINGS))
        self.criterion = nn.NLLLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.5)
        self.rnd = rnd

    @staticmethod
    def tensors(rows):
        lengths = [len(t) for t, _ in rows]
        offsets = torch.tensor([0, *lengths[:-1]]).cumsum(0)
        return torch.tensor([w for t, _ in rows for w in t]), offsets, torch.tensor([k for _, k in rows])

    def run(self, epochs=10, batch=25):
        for epoch in range(epochs):
            self.rnd.shuffle(self.train)
            for s in range(0, len(self.train), batch):
                tokens, offsets, kinds = self.tensors(self.train[s : s + batch])
                loss = self.criterion(torch.softmax(self.model(tokens, offsets), dim=1), kinds)  # <- PM504
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            print(f"epoch {epoch + 1} loss {loss.item():.4f} val accuracy {self.accuracy():.3f}")

    @torch.no_grad()
    def accuracy(self):
        tokens, offsets, kinds = self.tensors(self.val)
        return (self.model(tokens, offsets).argmax(1) == kinds).float().mean().item()


torch.set_num_threads(1)
Experiment().run()
