"""Tag padded sequences with a transformer encoder; several of its modules are used only through their weights."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

WORDS, TAGS, LONGEST, WIDTH, PAD, IGNORE = 40, 5, 12, 48, 0, -100


class Tagger(nn.Module):
    """The tag embedding doubles as output matrix, so it is never called itself."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.ModuleDict(
            {"word": nn.Embedding(WORDS, WIDTH, padding_idx=PAD), "position": nn.Embedding(LONGEST, WIDTH)}
        )
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, 4, 64, dropout=0.05, batch_first=True, norm_first=True) for _ in range(2)
        )
        self.norm = nn.LayerNorm(WIDTH)
        self.tags = nn.Embedding(TAGS, WIDTH)
        nn.init.normal_(self.tags.weight, std=0.1)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        x = self.embed["word"](words) + self.embed["position"](torch.arange(words.shape[1]))
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=words == PAD)
        return F.linear(self.norm(x), self.tags.weight)


def make_sentences(count: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The tag of a word depends on the word and on its left neighbour."""
    sentences = []
    for length in torch.randint(6, LONGEST + 1, (count,)).tolist():
        words = torch.randint(1, WORDS, (length,))
        left = words.roll(1)
        left[0] = 0
        sentences.append((words, (words % 4 + (left > WORDS // 2).long()) % TAGS))
    return sentences


def collate(batch: list[tuple[torch.Tensor, torch.Tensor]]) -> tuple[torch.Tensor, torch.Tensor]:
    words, tags = zip(*batch)
    return (
        pad_sequence(words, batch_first=True, padding_value=PAD),
        pad_sequence(tags, batch_first=True, padding_value=IGNORE),
    )


def tag_loss(model: Tagger, words: torch.Tensor, tags: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(words).flatten(0, 1), tags.flatten(), ignore_index=IGNORE)


@torch.no_grad()
def accuracy(model: Tagger, words: torch.Tensor, tags: torch.Tensor) -> float:
    model.eval()
    real = tags != IGNORE
    return (model(words).argmax(dim=2) == tags)[real].float().mean().item()


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(make_sentences(2000), batch_size=40, shuffle=True, collate_fn=collate)
    valid = collate(make_sentences(300))
    model = Tagger()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for epoch in range(4):
        model.train()
        total = count = 0.0
        for words, tags in loader:
            optimizer.zero_grad()
            loss = tag_loss(model, words, tags)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            tokens = (tags != IGNORE).sum().item()
            total += loss.item() * tokens
            count += tokens
        print(f"epoch {epoch}: loss {total / count:.3f}  valid accuracy {accuracy(model, *valid):.3f}")


if __name__ == "__main__":
    main()
