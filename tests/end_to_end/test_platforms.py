"""Systems that are not Linux, as far as they can be imitated here: without forks, process groups and most signals."""

from __future__ import annotations

from workshop import TRAIN, Workshop

# What Windows lacks is taken away once torch is there, and before anything of ours is.
WINDOWS = """
import faulthandler, os, signal, sys
import psutil
import torch, torch._dynamo, torch.multiprocessing, torch.utils.data

for name in ("fork", "register_at_fork", "killpg", "setsid", "pidfd_open", "waitid", "sched_getaffinity"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGCHLD", "SIGHUP", "SIGKILL", "SIGUSR1", "SIGRTMAX", "SIGRTMIN", "pthread_sigmask", "setitimer"):
    delattr(signal, name)
del faulthandler.register, faulthandler.unregister
for name in ("resource", "fcntl", "termios", "pty"):
    sys.modules[name] = None

sys.argv = ["paramedic", *sys.argv[1:]]
from paramedic.__main__ import main
main()
"""


def test_a_run_without_what_windows_lacks(shop: Workshop) -> None:
    shop.write("windows.py", WINDOWS)
    shop.write("train.py", TRAIN + "print(train(12, softmax=True))\n")
    done = shop.python("windows.py", "run", "--json", "out.json", "train.py")
    assert done.code == 0 and done.codes == ["PM502"], done.stderr
    assert "detached" not in done.stderr and "Caveat" not in done.stderr and "Traceback" not in done.stderr
    asked = shop.python("windows.py", "diagnose", "train.py")
    assert asked.code == 2 and "fork" in asked.stderr and "Traceback" not in asked.stderr
