"""A small language: each token's successor is drawn from its own distribution."""

import torch

TOKENS = 40


def sentences(count: int, length: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    odds = torch.softmax(3 * torch.randn(TOKENS, TOKENS, generator=torch.Generator().manual_seed(7)), dim=1)
    tokens = [torch.randint(0, TOKENS, (count,), generator=generator)]
    for _ in range(length):
        tokens.append(torch.multinomial(odds[tokens[-1]], 1, generator=generator).squeeze(1))
    return torch.stack(tokens, dim=1)
