"""Report the last value that was marked: a gated recurrent memory whose gates learn to be fully open or shut."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

VALUES, LENGTH = 20, 24


class GatedMemory(nn.Module):
    """Keeps its state where the gate is shut and overwrites it where the gate is open."""

    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.hidden = hidden
        self.gate = nn.Sequential(nn.Linear(inputs, hidden), nn.Sigmoid())
        self.candidate = nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh())

    def forward(self, x: Tensor) -> Tensor:
        state = x.new_zeros(len(x), self.hidden)
        for gate, candidate in zip(self.gate(x).unbind(1), self.candidate(x).unbind(1)):
            state = torch.lerp(state, candidate, gate)
        return state


class Recall(nn.Module):
    def __init__(self, dim: int = 24, hidden: int = 32):
        super().__init__()
        self.value = nn.Embedding(VALUES, dim)
        self.marked = nn.Embedding(2, dim)
        self.memory = GatedMemory(dim, hidden)
        self.head = nn.Linear(hidden, VALUES)

    def forward(self, values: Tensor, marks: Tensor) -> Tensor:
        return self.head(self.memory(self.value(values) + self.marked(marks)))


def make_batch(n: int) -> tuple[Tensor, Tensor, Tensor]:
    values = torch.randint(VALUES, (n, LENGTH))
    marks = (torch.rand(n, LENGTH) < 0.12).long()
    marks[:, 0] = 1
    last = (marks * torch.arange(1, LENGTH + 1)).argmax(dim=1)
    return values, marks, values.gather(1, last[:, None]).squeeze(1)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = Recall()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    *val_inputs, val_target = make_batch(500)
    for step in range(1, 241):
        model.train()
        values, marks, target = make_batch(64)
        loss = F.cross_entropy(model(values, marks), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 0:
            model.eval()
            with torch.no_grad():
                accuracy = (model(*val_inputs).argmax(1) == val_target).float().mean().item()
                inputs = model.value(val_inputs[0]) + model.marked(val_inputs[1])
                gates = model.memory.gate(inputs)
            pinned = ((gates < 0.02) | (gates > 0.98)).float().mean().item()
            print(f"step {step}  loss {loss.item():.3f}  val accuracy {accuracy:.3f}  saturated gates {pinned:.0%}")


if __name__ == "__main__":
    main()
