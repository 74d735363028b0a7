import os
import tempfile
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
TOTAL = 40
PATH = os.path.join(tempfile.mkdtemp(), "last.pt")
w = torch.randn(20)
x_all = torch.randn(1400, 20)
y_all = torch.sin(x_all @ w * 0.2) + 0.3 * torch.randn(1400)
x, y, xv, yv = x_all[:600], y_all[:600], x_all[600:], y_all[600:]


def build():
    net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.12, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, TOTAL)
    return net, opt, sched


def save(net, opt, sched, epoch):
    torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "sched": sched.state_dict(), "epoch": epoch}, PATH)


def load():
    net, opt, sched = build()
    ck = torch.load(PATH)
    net.load_state_dict(ck["net"])  # <- PM609
    return net, opt, sched, ck["epoch"] + 1


def run(net, opt, sched, start, stop):
    for epoch in range(start, stop):
        net.train()
        for b in torch.randperm(len(x)).split(8):
            loss = ((net(x[b]).squeeze(1) - y[b]) ** 2).mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
        sched.step()
        if epoch % 5 == 4:
            with torch.no_grad():
                v = ((net(xv).squeeze(1) - yv) ** 2).mean().item()
                t = ((net(x).squeeze(1) - y) ** 2).mean().item()
            print(f"epoch {epoch + 1} lr {opt.param_groups[0]['lr']:.4f} train {t:.4f} val {v:.4f}")
        save(net, opt, sched, epoch)


run(*build(), 0, 28)
net, opt, sched, start = load()
print("resumed at", start)
run(net, opt, sched, start, TOTAL)
