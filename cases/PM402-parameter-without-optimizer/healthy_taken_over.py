"""A tagger of short signals: its body is made for one question in a function of its own, then taken over for another."""

import torch
from torch import nn

LENGTH, KINDS = 24, 4


def signals(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Waves of four kinds, and whether each of them rises at the beginning."""
    source = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, KINDS, (count,), generator=source)
    phase = torch.rand(count, 1, generator=source) * 6.28
    time = torch.linspace(0, 1, LENGTH)
    x = torch.sin(6.28 * (1 + kind[:, None]) * time + phase) + 0.1 * torch.randn(count, LENGTH, generator=source)
    return x, kind, (x[:, 1] > x[:, 0]).long()


def network(answers: int) -> nn.ModuleDict:
    body = nn.Sequential(nn.Linear(LENGTH, 48), nn.ReLU(), nn.Linear(48, 16), nn.ReLU())
    return nn.ModuleDict({"body": body, "head": nn.Linear(16, answers)})


def fit(net: nn.ModuleDict, optimizer: torch.optim.Optimizer, x: torch.Tensor, y: torch.Tensor, passes: int) -> float:
    net.train()
    for _ in range(passes):
        for rows in torch.randperm(len(x)).split(40):
            loss = nn.functional.cross_entropy(net["head"](net["body"](x[rows])), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


def body_for_slopes() -> dict[str, torch.Tensor]:
    net = network(2)
    x, _, rising = signals(1200, 1)
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    print(f"slopes: loss {fit(net, optimizer, x, rising, 4):.3f}")
    return net["body"].state_dict()


def switch(module: nn.Module, trainable: bool) -> None:
    for parameter in module.parameters():
        parameter.requires_grad = trainable


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    known = body_for_slopes()
    net = network(KINDS)
    net["body"].load_state_dict(known)
    x, kind, _ = signals(1200, 2)
    val, val_kind, _ = signals(400, 3)
    switch(net["body"], False)
    optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=3e-3)
    print(f"kinds, head alone: loss {fit(net, optimizer, x, kind, 4):.3f}")
    switch(net["body"], True)
    optimizer.add_param_group({"params": list(net["body"].parameters()), "lr": 1e-3})
    print(f"kinds, all of it: loss {fit(net, optimizer, x, kind, 8):.3f}")
    net.eval()
    with torch.no_grad():
        right = net["head"](net["body"](val)).argmax(1) == val_kind
    print(f"accuracy {right.float().mean():.3f}")


if __name__ == "__main__":
    main()
