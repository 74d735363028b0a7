import torch
import torch.nn as nn

torch.manual_seed(50)
torch.set_num_threads(1)


class Recurrent(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.rnn = nn.RNN(2, hidden, nonlinearity="relu", batch_first=True)
        nn.init.eye_(self.rnn.weight_hh_l0)
        nn.init.normal_(self.rnn.weight_ih_l0, std=0.1)
        nn.init.zeros_(self.rnn.bias_ih_l0)
        nn.init.zeros_(self.rnn.bias_hh_l0)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1]).squeeze(-1)


def adding(batch, length):
    value = torch.rand(batch, length)
    mark = torch.zeros(batch, length)
    first = torch.randint(0, length // 2, (batch,))
    second = torch.randint(length // 2, length, (batch,))
    rows = torch.arange(batch)
    mark[rows, first] = mark[rows, second] = 1.0
    return torch.stack([value, mark], -1), value[rows, first] + value[rows, second]


def make_run(net, lr, clip):
    return {"params": net.parameters(), "lr": lr, "clip": clip}


net = Recurrent()
run = make_run(net, lr=0.03, clip=0.15)
opt = torch.optim.SGD(run["params"], lr=run["lr"], momentum=0.9)
history = []
for step in range(1, 801):
    x, y = adding(64, 16)
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(run["params"], run["clip"])  # <- PM604
    opt.step()
    history.append(loss.item())
    if step % 100 == 0:
        recent = history[-100:]
        print(f"step {step} mean loss {sum(recent) / 100:.4f} worst {max(recent):.4f}")

with torch.no_grad():
    x, y = adding(1000, 16)
    print(f"test mse {(net(x) - y).pow(2).mean():.4f}, of always saying the mean {y.var():.4f}")
