"""Fine-tune a tiny GPT-2 on synthetic cooking steps with a plain loop."""
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import GPT2Config, GPT2LMHeadModel

WORDS = "<pad> <eos> take the a bowl pan and add salt flour water then stir bake wait ten five minutes serve".split()
ID = {w: i for i, w in enumerate(WORDS)}


def recipe(g):
    pick = lambda *options: options[torch.randint(len(options), (), generator=g)]  # noqa: E731
    steps = ["take", "the" if torch.rand((), generator=g) < 0.5 else "a", pick("bowl", "pan")]
    for _ in range(int(torch.randint(1, 4, (), generator=g))):
        steps += ["and", "add", pick("salt", "flour", "water"), "then", "stir"]
    return [ID[w] for w in steps + ["bake", "wait", pick("ten", "five"), "minutes", "serve", "<eos>"]]


class Recipes(Dataset):
    def __init__(self, n, seed, max_len=28):
        g = torch.Generator().manual_seed(seed)
        self.rows = [recipe(g) for _ in range(n)]
        self.max_len = max_len

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        ids = torch.full((self.max_len,), ID["<pad>"])
        ids[: len(row)] = torch.tensor(row)
        labels = torch.full((self.max_len,), -100)
        labels[: len(row) - 1] = torch.tensor(row[1:])  # <- PM513
        return {"input_ids": ids, "attention_mask": (ids != ID["<pad>"]).long(), "labels": labels}


def main():
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=len(WORDS), n_positions=32, n_embd=32, n_layer=2, n_head=2,
                        bos_token_id=1, eos_token_id=1, attn_pdrop=0.0, resid_pdrop=0.0, embd_pdrop=0.0)
    model = GPT2LMHeadModel(config)
    loader = DataLoader(Recipes(256, 0), batch_size=16, shuffle=True)
    valid = DataLoader(Recipes(64, 1), batch_size=32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(8):
        model.train()
        for batch in loader:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            held_out = sum(model(**batch).loss.item() for batch in valid) / len(valid)
        print(f"epoch {epoch} loss {loss.item():.3f} validation {held_out:.3f}")


if __name__ == "__main__":
    main()
