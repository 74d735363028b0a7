"""On a machine with a GPU: does watching work there, does it find what it should, and does it wait for the device?

Writes small programs to a temporary folder and runs them with and without paramedic. Prints one table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMON = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0); torch.backends.cudnn.deterministic = True
dev = "cuda"
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 3, padding=1); self.b1 = nn.BatchNorm2d(16)
        self.c2 = nn.Conv2d(16, 32, 3, padding=1)
        self.drop = nn.Dropout(0.1); self.head = nn.Linear(32, 10)
    def forward(self, x):
        x = F.relu(self.b1(self.c1(x))); x = F.relu(self.c2(x)).mean((2, 3)); return self.head(self.drop(x))
protos = torch.randn(10, 1, 8, 8)
y = torch.randint(0, 10, (2000,)); x = protos[y] + 0.5 * torch.randn(2000, 1, 8, 8)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=50, shuffle=True)
net = Net().to(dev); opt = torch.optim.Adam(net.parameters(), 3e-3)
"""

PROGRAMS = {
    "healthy": (None, COMMON + """
for epoch in range(4):
    net.train()
    for xb, yb in loader:
        xb, yb = xb.to(dev), yb.to(dev)
        opt.zero_grad(); loss = F.cross_entropy(net(xb), yb); loss.backward(); opt.step()
    net.eval()
    with torch.no_grad(): print(epoch, loss.item(), (net(x.to(dev)).argmax(1).cpu() == y).float().mean().item())
"""),
    "healthy, fp16 with GradScaler": (None, COMMON + """
scaler = torch.amp.GradScaler("cuda")
for epoch in range(4):
    net.train()
    for xb, yb in loader:
        xb, yb = xb.to(dev), yb.to(dev)
        opt.zero_grad()
        with torch.autocast("cuda", torch.float16): loss = F.cross_entropy(net(xb), yb)
        scaler.scale(loss).backward(); scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0); scaler.step(opt); scaler.update()
    print(epoch, loss.item())
"""),
    "healthy, no wait for the device after step 12": (None, COMMON + """
step = 0
data = [(xb.to(dev), yb.to(dev)) for xb, yb in loader]
for epoch in range(4):
    for xb, yb in data:
        if step in (12, 33, 70): torch.cuda.set_sync_debug_mode("error")
        opt.zero_grad(); loss = F.cross_entropy(net(xb), yb); loss.backward(); opt.step()
        torch.cuda.set_sync_debug_mode("default") if step in (14, 60, 120) else None
        step += 1
print(loss.item())
"""),
    "healthy, torch.compile": (None, COMMON + """
model = torch.compile(net)
for epoch in range(3):
    for xb, yb in loader:
        xb, yb = xb.to(dev), yb.to(dev)
        opt.zero_grad(); loss = F.cross_entropy(model(xb), yb); loss.backward(); opt.step()
print(loss.item())
"""),
    "softmax twice": ("PM502", COMMON + """
for epoch in range(2):
    for xb, yb in loader:
        xb, yb = xb.to(dev), yb.to(dev)
        opt.zero_grad(); loss = F.cross_entropy(F.softmax(net(xb), 1), yb); loss.backward(); opt.step()
print(loss.item())
"""),
    "gradients never cleared": ("PM601", COMMON + """
for epoch in range(2):
    for xb, yb in loader:
        xb, yb = xb.to(dev), yb.to(dev)
        loss = F.cross_entropy(net(xb), yb); loss.backward(); opt.step()
print(loss.item())
"""),
    "clipping scaled gradients": ("PM605", COMMON + """
scaler = torch.amp.GradScaler("cuda")
for epoch in range(2):
    for xb, yb in loader:
        xb, yb = xb.to(dev), yb.to(dev)
        opt.zero_grad()
        with torch.autocast("cuda", torch.float16): loss = F.cross_entropy(net(xb), yb)
        scaler.scale(loss).backward(); nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(opt); scaler.update()
print(loss.item())
"""),
    "label out of range": ("PM304", COMMON.replace("nn.Linear(32, 10)", "nn.Linear(32, 9)") + """
for epoch in range(2):
    for xb, yb in loader:
        xb, yb = xb.to(dev), yb.to(dev)
        opt.zero_grad(); loss = F.cross_entropy(net(xb), yb); loss.backward(); opt.step(); print(loss.item())
"""),
}  # fmt: skip


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    print(f"{'program':48} {'plain s':>8} {'watched s':>9} {'cost':>6} {'same':>5} {'wanted':>7}  found")
    for name, (wanted, text) in PROGRAMS.items():
        script = folder / "train.py"
        script.write_text(text)
        runs = {}
        for how, words in (("plain", []), ("watched", ["-m", "paramedic", "run", "--json", str(folder / "out.json")])):
            started = time.perf_counter()
            done = subprocess.run(
                [sys.executable, *words, str(script)], cwd=folder, env=environment, capture_output=True, text=True
            )
            runs[how] = (time.perf_counter() - started, done)
        report = json.loads((folder / "out.json").read_text())
        found = [f["code"] for f in report["findings"] if f["severity"] != "note"]
        same = runs["plain"][1].stdout == runs["watched"][1].stdout
        print(
            f"{name:48} {runs['plain'][0]:8.1f} {runs['watched'][0]:9.1f} {report['run']['overhead']:6.1%} {same!s:>5} "
            f"{wanted or '-':>7}  {', '.join(found) or '-'}"
        )
        trouble = [line for line in runs["watched"][1].stderr.splitlines() if "detached" in line or "Error" in line]
        for line in trouble[:6]:
            print("     ", line[:200])
        if not same:
            print(
                "      plain:  ",
                runs["plain"][1].stdout.splitlines()[-1:],
                "watched:",
                runs["watched"][1].stdout.splitlines()[-1:],
            )


if __name__ == "__main__":
    main()
