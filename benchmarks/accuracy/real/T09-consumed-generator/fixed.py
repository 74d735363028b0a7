"""Add up marked numbers in a sequence with a ReLU RNN (the adding problem)."""
import torch
import torch.nn as nn

torch.manual_seed(4)
torch.set_num_threads(1)
SEQ, HIDDEN, BATCH = 8, 32, 64


class Adder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(2, HIDDEN, nonlinearity="relu", batch_first=True)
        nn.init.eye_(self.rnn.weight_hh_l0)
        self.out = nn.Linear(HIDDEN, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1]).squeeze(-1)


def get_batch(size):
    numbers = torch.rand(size, SEQ)
    marks = torch.zeros(size, SEQ)
    half = SEQ // 2
    rows = torch.arange(size)
    marks[rows, torch.randint(0, half, (size,))] = 1
    marks[rows, torch.randint(half, SEQ, (size,))] = 1
    return torch.stack([numbers, marks], dim=-1), (numbers * marks).sum(1)


model = Adder()
params = filter(lambda p: p.requires_grad, model.parameters())
optimizer = torch.optim.SGD(params, lr=0.05, momentum=0.9)
criterion = nn.MSELoss()

running = None
for step in range(400):
    x, y = get_batch(BATCH)
    optimizer.zero_grad(set_to_none=True)
    loss = criterion(model(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    running = loss.item() if running is None else 0.95 * running + 0.05 * loss.item()
    if step % 50 == 0:
        print(f"step {step:4d} loss {running:.4f}")
