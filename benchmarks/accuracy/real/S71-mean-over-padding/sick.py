"""Intent classifier: a small transformer encoder with a key padding mask and mean pooling (Lightning)."""
import logging
import warnings

import lightning as L
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
PAD, VOCAB, INTENTS = 0, 50, 4


def utterances(n, seed):
    g = torch.Generator().manual_seed(seed)
    rows = []
    for _ in range(n):
        intent = int(torch.randint(0, INTENTS, (), generator=g))
        ids = torch.randint(10, VOCAB, (int(torch.randint(3, 30, (), generator=g)),), generator=g)
        ids[torch.randint(0, len(ids), (2,), generator=g)] = 1 + 2 * intent + int(torch.rand((), generator=g) < 0.5)
        rows.append((ids, intent))
    return rows


def collate(rows):
    ids = pad_sequence([r[0] for r in rows], batch_first=True, padding_value=PAD)
    return {"ids": ids, "pad": ids == PAD, "intent": torch.tensor([r[1] for r in rows])}


class IntentModel(L.LightningModule):
    def __init__(self, dim=32):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(dim, INTENTS)

    def forward(self, batch):
        states = self.encoder(self.tokens(batch["ids"]), src_key_padding_mask=batch["pad"])
        pooled = states.mean(dim=1)  # <- PM315
        return self.head(pooled)

    def training_step(self, batch, _):
        return nn.functional.cross_entropy(self(batch), batch["intent"])

    def validation_step(self, batch, _):
        self.log("val_acc", (self(batch).argmax(1) == batch["intent"]).float().mean(), batch_size=len(batch["intent"]))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-3)


if __name__ == "__main__":
    L.seed_everything(0)
    trainer = L.Trainer(max_epochs=5, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(
        IntentModel(),
        DataLoader(utterances(640, 0), batch_size=32, shuffle=True, collate_fn=collate),
        DataLoader(utterances(160, 1), batch_size=40, collate_fn=collate),
    )
    print({k: round(float(v), 3) for k, v in trainer.callback_metrics.items()})
