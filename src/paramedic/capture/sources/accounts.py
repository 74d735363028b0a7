"""The optimizers of a script, and the books that are kept of each."""

from __future__ import annotations

import weakref

from torch.optim import Optimizer

from paramedic.capture.gears import FIRST_STEPS
from paramedic.capture.sources.ledger import Account
from paramedic.capture.sources.owners import Owners, held_by
from paramedic.capture.watcher import Watcher
from paramedic.program.where import built_at
from paramedic.record.writer import Site


class Accounts:
    """One account per optimizer that has been seen at work."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.accounts: weakref.WeakKeyDictionary[Optimizer, Account] = weakref.WeakKeyDictionary()
        self.owners = Owners()
        self.births: weakref.WeakKeyDictionary[Optimizer, Site] = weakref.WeakKeyDictionary()
        self._born_at: weakref.WeakKeyDictionary[Optimizer, int] = weakref.WeakKeyDictionary()
        self.count = 0

    def open_all(self) -> None:
        """An account for each optimizer that was built."""
        if len(self.accounts) < len(self.births):
            for optimizer in [o for o in self.births if o not in self.accounts]:
                self.account(optimizer)

    def born(self, optimizer: Optimizer) -> None:
        self.births[optimizer] = built_at(optimizer)
        self._born_at[optimizer] = self.watcher.step
        if self.watcher.gears.turning:
            self.watcher.gears.news(FIRST_STEPS)

    def restored(self, optimizer: Optimizer) -> None:
        """Unpickled or copied: nobody called its constructor, and its steps count from here on."""
        self._born_at.setdefault(optimizer, self.watcher.step)

    def account(self, optimizer: Optimizer) -> Account:
        account = self.accounts.get(optimizer)
        if account is None:
            account = self.accounts[optimizer] = Account(number=self.count)
            account.offset = self._born_at.get(optimizer, 0)
            self.count += 1
            self.watcher.gears.expect([p for group in optimizer.param_groups for p in group["params"]])
            self.watcher.gears.news(FIRST_STEPS)
            self.watcher.gears.budget.begins_anew()
        return account

    def account_behind(self, optimizer: object) -> Account | None:
        """The account of an optimizer, or of the one that a wrapper such as accelerate's holds."""
        for _ in range(4):
            if isinstance(optimizer, Optimizer) and optimizer in self.accounts:
                return self.accounts[optimizer]
            optimizer = getattr(optimizer, "optimizer", None)
        return None

    def held(self) -> dict[int, int]:
        """id of a parameter -> number of the optimizer that holds it."""
        return held_by({optimizer: account.number for optimizer, account in self.accounts.items()})

    def accounts_of(self, identity: int) -> list[Account]:
        """The accounts of the optimizers that hold the parameter with this id."""
        return [self.accounts[optimizer] for optimizer in self.owners.of(identity) if optimizer in self.accounts]
