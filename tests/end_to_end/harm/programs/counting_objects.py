"""Objects that count every look at them: len(), repr(), hash(), ==, bool(), iteration, items() and attributes."""

import collections

import torch
from torch import nn

torch.manual_seed(0)
counts = collections.Counter()


class Shy:
    """Lies around in variables, lists, dicts and attributes of the model."""

    def __len__(self):
        counts["len"] += 1
        return 3

    def __repr__(self):
        counts["repr"] += 1
        return "shy"

    def __hash__(self):
        counts["hash"] += 1
        return 7

    def __eq__(self, other):
        counts["eq"] += 1
        return self is other

    def __bool__(self):
        counts["bool"] += 1
        return True

    def __iter__(self):
        counts["iter"] += 1
        return iter([1, 2])

    def __getitem__(self, index):
        counts["getitem"] += 1
        return index

    def keys(self):
        counts["keys"] += 1
        return ["a"]

    def items(self):
        counts["items"] += 1
        return [("a", torch.zeros(1))]

    def __getattr__(self, name):
        counts["getattr " + name] += 1
        raise AttributeError(name)

    def __sizeof__(self):
        counts["sizeof"] += 1
        return 100


class History(list):
    def __len__(self):
        counts["history len"] += 1
        return super().__len__()

    def __iter__(self):
        counts["history iter"] += 1
        return super().__iter__()

    def __getitem__(self, index):
        counts["history getitem"] += 1
        return super().__getitem__(index)


class Table(dict):
    def items(self):
        counts["table items"] += 1
        return super().items()

    def values(self):
        counts["table values"] += 1
        return super().values()

    def __len__(self):
        counts["table len"] += 1
        return super().__len__()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)
        self.shy = Shy()
        self.kept = [Shy(), Shy()]
        self.named = {"one": Shy()}

    @property
    def p(self):
        counts["p"] += 1
        raise RuntimeError("not set")

    def parameters(self, recurse=True):
        counts["parameters"] += 1
        return super().parameters(recurse)

    def forward(self, x, extra):
        return {"scores": self.layer(x), "extra": extra}


shy, history, table, tree = Shy(), History(), Table(), {"nested": [Shy()]}
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(40):
    x = torch.randn(16, 8)
    y = x[:, :4].argmax(1)
    loss = nn.functional.cross_entropy(model(x, shy)["scores"], y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
    table[step] = loss.item()
print(sorted(counts.items()))
