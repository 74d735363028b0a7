"""Multi-label tagging of short synthetic posts with Lightning."""
import logging
import warnings

import lightning as L
import numpy as np
import torch
from sklearn.metrics import f1_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

N_TAGS, VOCAB, LENGTH = 12, 300, 20


def make_posts(n, seed):
    rng = np.random.default_rng(seed)
    topic_words = rng.integers(30, VOCAB, size=(N_TAGS, 15))
    posts, tags = np.zeros((n, LENGTH), dtype=np.int64), np.zeros((n, N_TAGS), dtype=np.float32)
    for i in range(n):
        chosen = rng.choice(N_TAGS, size=rng.integers(1, 4), replace=False)
        tags[i, chosen] = 1.0
        for j in range(LENGTH):
            if rng.random() < 0.45:
                posts[i, j] = rng.choice(topic_words[rng.choice(chosen)])
            else:
                posts[i, j] = rng.integers(0, VOCAB)
    return torch.from_numpy(posts), torch.from_numpy(tags)


class TagHead(nn.Module):
    def __init__(self, width, n_tags):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, n_tags))

    def forward(self, x):
        return torch.sigmoid(self.layers(x))


class Tagger(L.LightningModule):
    def __init__(self, lr=5e-3):
        super().__init__()
        self.lr = lr
        self.embed = nn.EmbeddingBag(VOCAB, 48, mode="mean")
        self.head = TagHead(48, N_TAGS)
        self.criterion = nn.BCEWithLogitsLoss()
        self.seen = []

    def forward(self, tokens):
        return self.head(self.embed(tokens))

    def training_step(self, batch, _):
        tokens, tags = batch
        loss = self.criterion(self(tokens), tags)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, _):
        tokens, tags = batch
        scores = self(tokens)
        self.log("val_loss", self.criterion(scores, tags))
        self.seen.append((scores > 0.5, tags))

    def on_validation_epoch_end(self):
        guess, truth = (torch.cat(t).numpy() for t in zip(*self.seen))
        self.log("val_f1", f1_score(truth, guess, average="micro"))
        self.seen.clear()

    def on_train_epoch_end(self):
        m = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch:2d}  train loss {m['train_loss']:.4f}  val loss {m['val_loss']:.4f}  "
              f"micro f1 {m['val_f1']:.4f}")

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.lr, weight_decay=1e-2)


def main():
    L.seed_everything(8)
    full = TensorDataset(*make_posts(3000, 8))
    train, valid = random_split(full, [2400, 600], generator=torch.Generator().manual_seed(8))
    trainer = L.Trainer(max_epochs=10, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(Tagger(), DataLoader(train, 64, shuffle=True), DataLoader(valid, 300))


if __name__ == "__main__":
    main()
