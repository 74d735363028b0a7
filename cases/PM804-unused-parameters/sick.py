"""A masked autoencoder's encoder, fine-tuned to read digits; data-parallel, with gradients of two batches per step."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

WIDTH, EPOCHS, ACCUMULATE = 32, 4, 2


class Encoder(nn.Module):
    """Each row of an image is a token; in the pre-training some of them were replaced by the mask token."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(8, WIDTH)
        self.position = nn.Parameter(0.02 * torch.randn(8, WIDTH))
        self.mask_token = nn.Parameter(torch.zeros(WIDTH))  # <- PM804
        self.block = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True)

    def forward(self, images: Tensor) -> Tensor:
        return self.block(self.embed(images) + self.position)


class Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.encoder(images).mean(dim=1))


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    images, digits = load_digits(return_X_y=True)
    dataset = TensorDataset(torch.tensor(images, dtype=torch.float32).view(-1, 8, 8) / 16, torch.tensor(digits))
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=32, sampler=sampler, drop_last=True)
    model = DistributedDataParallel(Reader())
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        for number, (x, y) in enumerate(loader, 1):
            loss = F.cross_entropy(model(x), y) / ACCUMULATE
            loss.backward()
            if number % ACCUMULATE == 0:
                optimizer.step()
                optimizer.zero_grad()
        print(f"epoch {epoch}  loss {ACCUMULATE * loss.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
