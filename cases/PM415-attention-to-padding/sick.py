"""Is a sentence of word ids about the sea? Padded batches through torch's transformer encoder."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

VOCABULARY, SEA = 40, 7


class Encoder(nn.Module):
    def __init__(self, width: int = 24):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        layer = nn.TransformerEncoderLayer(width, 2, 48, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(width, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        real = ids != 0
        x = self.encoder(self.embed(ids), src_key_padding_mask=real)  # <- PM415
        return self.head((x * real.unsqueeze(-1)).sum(1) / real.sum(1, keepdim=True))


def sentences(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    rows = [torch.randint(1, VOCABULARY, (int(length),)) for length in torch.randint(4, 16, (n,))]
    label = torch.tensor([int((row == SEA).any()) for row in rows])
    return pad_sequence(rows, batch_first=True), label


def main() -> None:
    torch.manual_seed(0)
    model = Encoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(80):
        ids, label = sentences(48)
        loss = F.cross_entropy(model(ids), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
