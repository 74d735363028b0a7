import torch
import torch.nn as nn

torch.manual_seed(1)
torch.set_num_threads(1)


def cohort(n):
    x = torch.randn(n, 20)
    y = x[:, :1] * 0.5 + x[:, 1:2] * x[:, 2:3]
    return x, y + 1.5 * torch.randn(n, 1), y


class Runner:
    accumulate = 16
    micro = 2

    def __init__(self):
        self.net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-2)

    def epoch(self, x, y):
        for i, b in enumerate(torch.randperm(len(x)).split(self.micro)):
            self.opt.zero_grad()  # <- PM602
            loss = nn.functional.mse_loss(self.net(x[b]), y[b]) / self.accumulate
            loss.backward()
            if (i + 1) % self.accumulate == 0:
                self.opt.step()

    @torch.no_grad()
    def error(self, x, clean):
        return nn.functional.mse_loss(self.net(x), clean).item()


x, y, _ = cohort(3200)
xv, _, cv = cohort(800)
r = Runner()
for e in range(5):
    r.epoch(x, y)
    print(f"epoch {e} val error against the noiseless target {r.error(xv, cv):.3f} (variance {cv.var().item():.2f})")
