import os
import tempfile
import warnings
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

warnings.filterwarnings("ignore")
os.environ["TOKENIZERS_PARALLELISM"] = "false"
torch.manual_seed(0)
torch.set_num_threads(1)
V, T = 20, 16
nxt = torch.roll(torch.randperm(V), 1)


class Tokens(torch.utils.data.Dataset):
    def __init__(self, n):
        s = [torch.randint(0, V, (n,))]
        for _ in range(T - 1):
            jump = (torch.rand(n) < 0.05)
            s.append(torch.where(jump, torch.randint(0, V, (n,)), nxt[s[-1]]))
        self.ids = torch.stack(s, 1)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        ids = self.ids[i]
        labels = ids.clone()
        return {"input_ids": ids, "labels": labels}


config = GPT2Config(vocab_size=V, n_positions=T, n_embd=32, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0,
                    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config)
args = TrainingArguments(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=32, num_train_epochs=4,
                         learning_rate=5e-3, logging_steps=50, save_strategy="no", report_to=[], use_cpu=True,
                         disable_tqdm=True, seed=0)
trainer = Trainer(model=model, args=args, train_dataset=Tokens(1280))
out = trainer.train()
model.eval()
held = Tokens(200).ids
with torch.no_grad():
    pred = model(input_ids=held[:, :-1]).logits.argmax(-1)
print("train loss %.3f" % out.training_loss)
print("next-token accuracy %.3f" % (pred == held[:, 1:]).float().mean().item())
