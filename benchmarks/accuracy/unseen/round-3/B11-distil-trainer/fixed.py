"""Distil a wide intent classifier into a small one with the HF Trainer."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

N_INTENTS, VOCAB, LEN = 8, 200, 12


class Utterances(Dataset):
    """token ids; each intent prefers its own set of words"""

    def __init__(self, n, seed):
        g = np.random.default_rng(1)
        prefs = np.stack([g.permutation(VOCAB)[:22] for _ in range(N_INTENTS)])
        rng = np.random.default_rng(seed)
        self.y = rng.integers(0, N_INTENTS, n)
        noise = rng.integers(0, VOCAB, (n, LEN))
        topical = prefs[self.y[:, None], rng.integers(0, 22, (n, LEN))]
        self.x = np.where(rng.random((n, LEN)) < 0.45, topical, noise)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"input_ids": torch.as_tensor(self.x[i]), "labels": torch.as_tensor(self.y[i])}


class BagClassifier(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.fc = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, N_INTENTS))

    def forward(self, input_ids, labels=None):
        logits = self.fc(self.emb(input_ids).mean(1))
        out = {"logits": logits}
        if labels is not None:
            out["loss"] = F.cross_entropy(logits, labels)
        return out


class DistilTrainer(Trainer):
    def __init__(self, *args, teacher, temperature=2.0, alpha=0.9, **kw):
        super().__init__(*args, **kw)
        self.teacher = teacher.eval()
        self.T, self.alpha = temperature, alpha

    def compute_loss(self, model, inputs, return_outputs=False, **kw):
        out = model(input_ids=inputs["input_ids"])
        with torch.no_grad():
            t_logits = self.teacher(input_ids=inputs["input_ids"])["logits"]
        soft = F.kl_div(F.log_softmax(out["logits"] / self.T, dim=-1),
                        F.softmax(t_logits / self.T, dim=-1), reduction="batchmean") * self.T ** 2
        # labels come from crowd workers, so the hard term gets a small weight
        hard = F.cross_entropy(out["logits"], inputs["labels"])
        loss = self.alpha * soft + (1 - self.alpha) * hard
        return (loss, out) if return_outputs else loss


def metrics(p):
    logits = p.predictions if not isinstance(p.predictions, tuple) else p.predictions[0]
    probs = torch.softmax(torch.as_tensor(logits), -1)
    labels = torch.as_tensor(p.label_ids)
    return {"accuracy": (probs.argmax(-1) == labels).float().mean().item(),
            "nll": F.nll_loss(torch.log(probs + 1e-9), labels).item()}


def training_args(epochs, lr):
    return TrainingArguments(output_dir="/tmp/distil_out", num_train_epochs=epochs, learning_rate=lr, seed=0,
                             per_device_train_batch_size=32, per_device_eval_batch_size=256, logging_steps=25,
                             report_to=[], save_strategy="no", disable_tqdm=True, use_cpu=True,
                             remove_unused_columns=False, label_names=["labels"])


def main():
    set_seed(0)
    big, small, test = Utterances(2500, 2), Utterances(1200, 3), Utterances(800, 4)
    teacher = BagClassifier(64, 128)
    opt = torch.optim.Adam(teacher.parameters(), 4e-3)
    for epoch in range(5):
        perm = np.random.permutation(len(big))
        for i in range(0, len(perm), 64):
            idx = perm[i:i + 64]
            loss = teacher(torch.as_tensor(big.x[idx]), torch.as_tensor(big.y[idx]))["loss"]
            opt.zero_grad()
            loss.backward()
            opt.step()
    student = BagClassifier(16, 24)
    trainer = DistilTrainer(model=student, args=training_args(6, 1e-2), train_dataset=small, eval_dataset=test,
                            compute_metrics=metrics, teacher=teacher)
    trainer.train()
    res = trainer.evaluate()
    with torch.no_grad():
        t_acc = (teacher(torch.as_tensor(test.x))["logits"].argmax(-1).numpy() == test.y).mean()
    print(f"teacher acc {t_acc:.3f} | student acc {res['eval_accuracy']:.3f} nll {res['eval_nll']:.3f}")


if __name__ == "__main__":
    main()
