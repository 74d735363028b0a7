"""Sentiment of short reviews, a small BERT from scratch with the Hugging Face Trainer."""
import random

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

GOOD = "Great Lovely Superb Charming Brilliant Moving Funny Clever".split()
BAD = "Dull Boring Awful Clumsy Tedious Weak Silly Flat".split()
FILL = "The A Film Movie Story Was And Really Quite Very Plot Actor Scene Music It".split()


def review(label):
    words = random.choices(FILL, k=9) + random.choices(GOOD if label else BAD, k=3)
    random.shuffle(words)
    return " ".join(words)


def build_vocab():
    words = sorted({w.lower() for w in GOOD + BAD + FILL})
    return {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, **{w: i + 3 for i, w in enumerate(words)}}


class Reviews(Dataset):
    def __init__(self, n, vocab):
        self.labels = [random.randint(0, 1) for _ in range(n)]
        self.texts = [review(label) for label in self.labels]
        self.vocab = vocab

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        ids = [2] + [self.vocab.get(word, 1) for word in self.texts[i].split()]
        return {"input_ids": torch.tensor(ids), "attention_mask": torch.ones(len(ids), dtype=torch.long),
                "labels": torch.tensor(self.labels[i])}


def accuracy(pred):
    return {"accuracy": float((pred.predictions.argmax(-1) == pred.label_ids).mean())}


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    vocab = build_vocab()
    config = BertConfig(vocab_size=len(vocab), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=64, max_position_embeddings=32, hidden_dropout_prob=0.0,
                        attention_probs_dropout_prob=0.0)
    args = TrainingArguments(output_dir="out", num_train_epochs=3, per_device_train_batch_size=32, learning_rate=2e-3,
                             report_to=[], save_strategy="no", logging_steps=20, use_cpu=True, disable_tqdm=True)
    trainer = Trainer(BertForSequenceClassification(config), args, train_dataset=Reviews(1200, vocab),
                      eval_dataset=Reviews(200, vocab), compute_metrics=accuracy)
    trainer.train()
    print(trainer.evaluate())
