"""A training in a thread of its own, as Ray Train runs it, is examined like any other."""

from __future__ import annotations

from workshop import TRAIN, Workshop

THREAD = """
import sys, threading

def work():
    print(train(16, softmax="sick" in sys.argv).hex())

if "thread" in sys.argv:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
else:
    work()
"""


def test_a_thread_that_trains_is_listened_to(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + THREAD)
    plain = warm_shop.python("train.py")
    usual, there = warm_shop.run("train.py"), warm_shop.run("train.py", "thread")
    assert plain.stdout == usual.stdout == there.stdout, there.stderr
    assert there.found["rules"]["clear"] == usual.found["rules"]["clear"] and there.alarms == []
    assert warm_shop.run("train.py", "thread", "sick").codes == ["PM502"]
