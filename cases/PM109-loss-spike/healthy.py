"""Sort letters with a small transformer on a curriculum: warm-up first, then longer words stage by stage."""

import argparse

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LETTERS, MAX_LENGTH = 16, 9


class Sorter(nn.Module):
    """Predicts for every position which letter stands there in the sorted word."""

    def __init__(self, dim: int = 48):
        super().__init__()
        self.letters = nn.Embedding(LETTERS, dim)
        self.positions = nn.Parameter(0.02 * torch.randn(MAX_LENGTH, dim))
        layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(dim), enable_nested_tensor=False)
        self.head = nn.Linear(dim, LETTERS)

    def forward(self, words: Tensor) -> Tensor:
        return self.head(self.encoder(self.letters(words) + self.positions[: words.shape[1]]))


def make_words(n: int, length: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
    words = torch.randint(LETTERS, (n, length), generator=generator)
    return words, words.sort(dim=1).values


@torch.no_grad()
def accuracy(model: nn.Module, words: Tensor, target: Tensor) -> float:
    model.eval()
    return (model(words).argmax(-1) == target).float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lengths", type=int, nargs="+", default=[3, 6, 9])
    parser.add_argument("--steps-per-stage", type=int, default=90)
    parser.add_argument("--batch-size", type=int, default=48)
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--lr", type=float, default=4e-3)
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(0)
    val_words, val_target = make_words(256, MAX_LENGTH, torch.Generator().manual_seed(1))
    model = Sorter()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / args.warmup))

    for length in args.lengths:
        for step in range(args.steps_per_stage):
            model.train()
            words, target = make_words(args.batch_size, length)
            loss = F.cross_entropy(model(words).flatten(0, 1), target.flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            if step % 30 == 0:
                print(f"length {length}  step {step:3d}  loss {loss.item():.3f}")
        print(
            f"length {length} done: accuracy on words of {MAX_LENGTH} is {accuracy(model, val_words, val_target):.3f}"
        )


if __name__ == "__main__":
    main()
