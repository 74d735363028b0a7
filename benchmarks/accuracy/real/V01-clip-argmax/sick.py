"""Contrastive image-text pretraining (CLIP style) with in-batch accuracy."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)


class CLIP(nn.Module):
    def __init__(self, image_dim=24, text_dim=18, embed=16):
        super().__init__()
        self.visual = nn.Sequential(nn.Linear(image_dim, 48), nn.ReLU(), nn.Linear(48, embed))
        self.textual = nn.Sequential(nn.Linear(text_dim, 48), nn.ReLU(), nn.Linear(48, embed))
        self.logit_scale = nn.Parameter(torch.tensor(np.log(1 / 0.07), dtype=torch.float32))

    def forward(self, image, text):
        image = F.normalize(self.visual(image), dim=1)
        text = F.normalize(self.textual(text), dim=1)
        return image @ text.t() * self.logit_scale.exp()


class CLIPWrapper:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=2e-3)

    def training_step(self, image, text):
        logits = self.model(image, text)
        ground_truth = torch.arange(len(image))
        loss = (F.cross_entropy(logits, ground_truth) + F.cross_entropy(logits.t(), ground_truth)) / 2
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    @torch.no_grad()
    def validation_step(self, image, text):
        logits = self.model(image, text)
        ground_truth = torch.arange(len(image))
        acc_i = (torch.argmax(logits) == ground_truth).sum()  # <- PM616
        acc_t = (torch.argmax(logits.t()) == ground_truth).sum()
        return (acc_i + acc_t).item() / 2 / len(image)


def pairs(n, g, to_image, to_text):
    meaning = torch.randn(n, 8, generator=g)
    noise = 0.1 * torch.randn(n, 42, generator=g)
    return meaning @ to_image + noise[:, :24], meaning @ to_text + noise[:, 24:]


def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(1)
    views = torch.randn(8, 24, generator=g), torch.randn(8, 18, generator=g)
    wrapper = CLIPWrapper(CLIP())
    for step in range(200):
        loss = wrapper.training_step(*pairs(64, g, *views))
        if step % 25 == 0:
            wrapper.model.eval()
            accuracy = wrapper.validation_step(*pairs(64, g, *views))
            wrapper.model.train()
            print(f"step {step} loss {loss:.4f} val accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
