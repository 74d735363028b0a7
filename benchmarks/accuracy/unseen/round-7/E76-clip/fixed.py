"""Vanilla RNN that integrates a gated signal; exploding gradients are kept in check by clipping."""
import torch
import torch.nn as nn

SEQ, BATCH, STEPS = 24, 64, 500


def gated_batch(gen, n=BATCH):
    values = torch.rand(n, SEQ, generator=gen)
    gates = (torch.rand(n, SEQ, generator=gen) < 0.4).float()
    target = (values * gates).sum(1) / 4
    return torch.stack([values, gates], -1), target


class GatedSumRNN(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.rnn = nn.RNN(2, hidden, nonlinearity="relu", batch_first=True)
        self.out = nn.Linear(hidden, 1)
        nn.init.eye_(self.rnn.weight_hh_l0)
        with torch.no_grad():
            self.rnn.weight_hh_l0.mul_(1.05)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h[:, -1]).squeeze(-1)


def train():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(0)
    model = GatedSumRNN()
    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    mse = nn.MSELoss()
    avg = None
    for step in range(1, STEPS + 1):
        x, target = gated_batch(gen)
        opt.zero_grad()
        loss = mse(model(x), target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
        opt.step()
        avg = loss.item() if avg is None else 0.95 * avg + 0.05 * loss.item()
        if step % 100 == 0:
            print(f"step {step:4d} mse {avg:.4f}")
    with torch.no_grad():
        x, target = gated_batch(torch.Generator().manual_seed(99), 500)
        error = mse(model(x), target).item()
        print(f"test mse {error:.4f} (variance of the target {target.var().item():.4f})")


if __name__ == "__main__":
    train()
