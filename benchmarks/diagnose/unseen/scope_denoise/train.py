# Noise2Noise on oscilloscope traces: every shot was recorded twice, one recording is the input and
# the other one the target.  There is no clean recording.
import numpy as np, torch, torch.nn as nn

torch.manual_seed(0)
rs = np.random.RandomState(0)
N, T = 4400, 64
t = np.linspace(0, 1, T)
sig = np.zeros((N, T))
for _ in range(3):
    f = rs.uniform(1, 5, (N, 1)); ph = rs.uniform(0, 2 * np.pi, (N, 1)); a = rs.uniform(.2, .6, (N, 1))
    sig += a * np.sin(2 * np.pi * f * t + ph)
shot1 = (sig + rs.normal(0, 1.0, sig.shape)).astype('float32')
shot2 = (sig + rs.normal(0, 1.0, sig.shape)).astype('float32')
X, Y = torch.from_numpy(shot1), torch.from_numpy(shot2)
Xtr, Ytr, Xva, Yva = X[:4000], Y[:4000], X[4000:], Y[4000:]


class AE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(T, 64), nn.GELU(), nn.Linear(64, 12))
        self.dec = nn.Sequential(nn.Linear(12, 64), nn.GELU(), nn.Linear(64, T))

    def forward(self, x):
        return self.dec(self.enc(x))


net = AE()
opt = torch.optim.Adam(net.parameters(), lr=1.5e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 14)
for ep in range(14):
    net.train()
    tot = 0.
    perm = torch.randperm(len(Xtr))
    for i in range(0, len(perm), 50):
        b = perm[i:i + 50]
        # either recording may play the part of the input
        x, y = (Xtr[b], Ytr[b]) if torch.rand(()) < .5 else (Ytr[b], Xtr[b])
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item() * len(b)
    sched.step()
    if ep % 2 == 1:
        net.eval()
        with torch.no_grad():
            p = net(Xva)
            mse = nn.functional.mse_loss(p, Yva).item()
            r2 = 1 - mse / Yva.var().item()
        print('epoch %2d  train mse %.4f  val mse %.4f  val r2 %.4f' % (ep + 1, tot / len(perm), mse, r2))
