import tempfile
import warnings
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

warnings.filterwarnings("ignore")
torch.manual_seed(0)
torch.set_num_threads(1)
EOS, V = 0, 16
PAD = V - 1


def sentence():
    """count upwards from a random start to 12 and stop"""
    a = int(torch.randint(1, 10, (1,)))
    return list(range(a, 13)) + [EOS]


def collate(rows):
    m = max(map(len, rows))
    ids = torch.tensor([r + [PAD] * (m - len(r)) for r in rows])
    att = torch.tensor([[1] * len(r) + [0] * (m - len(r)) for r in rows])
    labels = ids.clone()
    labels[labels == PAD] = -100
    return {"input_ids": ids, "attention_mask": att, "labels": labels}


model = GPT2LMHeadModel(GPT2Config(vocab_size=V, n_positions=24, n_embd=32, n_layer=1, n_head=2, bos_token_id=EOS,
                                   eos_token_id=EOS, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
args = TrainingArguments(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=32, max_steps=150,
                         learning_rate=5e-3, logging_steps=50, save_strategy="no", report_to=[], use_cpu=True,
                         disable_tqdm=True, remove_unused_columns=False, seed=0)
trainer = Trainer(model=model, args=args, train_dataset=[sentence() for _ in range(1600)], data_collator=collate)
res = trainer.train()
model.eval()
stopped = 0
with torch.no_grad():
    for a in range(1, 10):
        ids = torch.tensor([[a]])
        for _ in range(18):
            n = model(input_ids=ids).logits[0, -1].argmax().item()
            ids = torch.cat([ids, torch.tensor([[n]])], 1)
            if n == EOS:
                stopped += 1
                break
print("train loss %.3f" % res.training_loss)
print("generations that stop: %d of 9" % stopped)
print("sample", ids[0].tolist())
