"""A toy vision-language model whose vision tower is tuned together with the connector."""
import torch
import torch.nn as nn
from dataclasses import dataclass


@dataclass
class TrainingArguments:
    tune_vision_tower: bool = True
    learning_rate: float = 3e-3
    num_steps: int = 200
    batch_size: int = 32


class VisionTower(nn.Module):
    def __init__(self, in_dim=20, dim=64):
        super().__init__()
        self.patch = nn.Linear(in_dim, dim)
        self.block = nn.Linear(dim, dim)

    @torch.no_grad()  # <- PM403
    def forward(self, pixels):
        x = torch.relu(self.patch(pixels))
        return torch.relu(self.block(x))


class Connector(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.proj = nn.Linear(dim, 32)
        self.act = nn.GELU()

    def forward(self, x):
        return self.act(self.proj(x))


class TinyLlavaForClassification(nn.Module):
    def __init__(self, num_labels=10):
        super().__init__()
        self.vision_tower = VisionTower()
        self.connector = Connector()
        self.head = nn.Linear(32, num_labels)

    def forward(self, pixels, labels=None):
        logits = self.head(self.connector(self.vision_tower(pixels)))
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits}


def main(args):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    centers = torch.randn(10, 20)
    labels = torch.randint(10, (2048,))
    pixels = centers[labels] + torch.randn(2048, 20)
    model = TinyLlavaForClassification()
    model.vision_tower.requires_grad_(args.tune_vision_tower)
    optimizer = torch.optim.AdamW(filter(lambda p: p.requires_grad, model.parameters()), lr=args.learning_rate)
    for step in range(args.num_steps):
        pick = torch.randint(1536, (args.batch_size,))
        out = model(pixels[pick], labels=labels[pick])
        optimizer.zero_grad()
        out["loss"].backward()
        optimizer.step()
        if step % 50 == 0:
            print(step, f"{out['loss'].item():.4f}")
    model.eval()
    with torch.no_grad():
        predicted = model(pixels[1536:])["logits"].argmax(-1)
    print("accuracy", (predicted == labels[1536:]).float().mean().item())


if __name__ == "__main__":
    main(TrainingArguments())
