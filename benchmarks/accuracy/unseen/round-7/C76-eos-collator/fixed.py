"""Fine-tune-style causal LM training on short sentences; generation should stop by itself."""
import random
import tempfile

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

SUBJECTS = ["cat", "dog", "bird", "fox"]
VERBS = ["sees", "likes", "hears"]
ADJ = ["red", "small", "old", "quiet", "happy"]
WORDS = ["the"] + SUBJECTS + VERBS + ADJ


def build_tokenizer():
    vocab = {w: i for i, w in enumerate(["<unk>", "<|endoftext|>", "<pad>"] + WORDS)}
    core = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tok = PreTrainedTokenizerFast(tokenizer_object=core, unk_token="<unk>", eos_token="<|endoftext|>")
    tok.pad_token = "<pad>"
    return tok


def sentence(rng):
    adjs = rng.sample(ADJ, rng.randint(0, 3))
    return " ".join(["the", rng.choice(SUBJECTS), rng.choice(VERBS), "the"] + adjs + [rng.choice(SUBJECTS)])


def encode(tok, n, seed):
    rng = random.Random(seed)
    return [{"input_ids": tok(sentence(rng) + " " + tok.eos_token)["input_ids"]} for _ in range(n)]


def stopping_rate(model, tok, n=40):
    model.eval()
    stopped, lengths = 0, []
    prompt = tok("the cat", return_tensors="pt")["input_ids"].repeat(n, 1)
    torch.manual_seed(3)
    ids = prompt
    done = torch.zeros(n, dtype=torch.bool)
    for _ in range(20):
        with torch.no_grad():
            probs = model(input_ids=ids).logits[:, -1].softmax(-1)
        nxt = torch.multinomial(probs, 1)
        ids = torch.cat([ids, nxt], 1)
        done |= nxt[:, 0] == tok.eos_token_id
    print("sample:", tok.decode(ids[0]))
    return done.float().mean().item()


def main():
    set_seed(0)
    tok = build_tokenizer()
    train = encode(tok, 1200, 0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tok), n_positions=40, n_embd=48, n_layer=2, n_head=4,
                                       bos_token_id=tok.eos_token_id, eos_token_id=tok.eos_token_id))
    collator = DataCollatorForLanguageModeling(tokenizer=tok, mlm=False)
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(output_dir=out, per_device_train_batch_size=24, num_train_epochs=4,
                                 learning_rate=3e-3, logging_steps=50, save_strategy="no", report_to=[],
                                 disable_tqdm=True, use_cpu=True)
        Trainer(model=model, args=args, train_dataset=train, data_collator=collator).train()
    print(f"generations that stop within 20 tokens: {stopping_rate(model, tok):.2f}")


if __name__ == "__main__":
    main()
