import logging
import math
import warnings

import pytorch_lightning as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

warnings.filterwarnings("ignore")
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
torch.set_num_threads(1)
pl.seed_everything(1, verbose=False)

SUBJ = "the cat|a dog|my sister|the old man|our teacher|a robot".split("|")
VERB = "eats|sees|likes|paints|carries|sells".split("|")
OBJ = "red apples|the blue car|a wooden box|old books|fresh bread".split("|")


def corpus(n, seed):
    g = torch.Generator().manual_seed(seed)
    pick = lambda xs: xs[torch.randint(len(xs), (1,), generator=g).item()]
    return " ".join(f"{pick(SUBJ)} {pick(VERB)} {pick(OBJ)}." for _ in range(n))


class Chars(Dataset):
    def __init__(self, text, stoi, block):
        self.ids = torch.tensor([stoi[c] for c in text])
        self.block = block

    def __len__(self):
        return (len(self.ids) - 1) // self.block

    def __getitem__(self, i):
        s = i * self.block
        return self.ids[s:s + self.block], self.ids[s + 1:s + self.block + 1]


class CharLM(pl.LightningModule):
    def __init__(self, vocab, block, width=48, epochs=6):
        super().__init__()
        self.epochs = epochs
        self.tok = nn.Embedding(vocab, width)
        self.pos = nn.Embedding(block, width)
        layer = nn.TransformerEncoderLayer(width, 4, 96, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab)

    def forward(self, x):
        n = x.size(1)
        mask = torch.triu(torch.full((n, n), float("-inf")), 1)
        h = self.tok(x) + self.pos(torch.arange(n))
        return self.head(self.norm(self.body(h, mask=mask)))

    def training_step(self, batch, _):
        x, y = batch
        loss = F.cross_entropy(self(x).transpose(1, 2), y)
        self.log("train_loss", loss, on_epoch=True, on_step=False)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        self.log("val_loss", F.cross_entropy(self(x).transpose(1, 2), y))

    def on_train_epoch_end(self):
        m = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch} train {m['train_loss']:.3f} val {m['val_loss']:.3f} ppl {math.exp(m['val_loss']):.2f}")

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=3e-3)
        sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: max(0.0, 1 - s / self.epochs))
        return {"optimizer": opt, "lr_scheduler": {"scheduler": sched, "interval": "step"}}


BLOCK = 48
train_text, val_text = corpus(1200, 0), corpus(150, 1)
chars = sorted(set(train_text))
stoi = {c: i for i, c in enumerate(chars)}
train = DataLoader(Chars(train_text, stoi, BLOCK), batch_size=16, shuffle=True)
val = DataLoader(Chars(val_text, stoi, BLOCK), batch_size=64)
trainer = pl.Trainer(max_epochs=6, accelerator="cpu", logger=False, enable_checkpointing=False,
                     enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
trainer.fit(CharLM(len(chars), BLOCK), train, val)
