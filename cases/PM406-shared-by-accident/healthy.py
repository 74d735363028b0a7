"""A universal transformer on text: one block applied repeatedly, tied embeddings, one activation object for all."""

import torch
import torch.nn.functional as F
from torch import nn

TEXT = """\
Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing to do: once \
or twice she had peeped into the book her sister was reading, but it had no pictures or conversations in it, \
and what is the use of a book, thought Alice, without pictures or conversations? So she was considering in her \
own mind, as well as she could, for the hot day made her feel very sleepy and stupid, whether the pleasure of \
making a daisy-chain would be worth the trouble of getting up and picking the daisies, when suddenly a White \
Rabbit with pink eyes ran close by her. There was nothing so very remarkable in that; nor did Alice think it \
so very much out of the way to hear the Rabbit say to itself, Oh dear! Oh dear! I shall be late! But when the \
Rabbit actually took a watch out of its waistcoat-pocket, and looked at it, and then hurried on, Alice started \
to her feet, for it flashed across her mind that she had never before seen a rabbit with either a \
waistcoat-pocket, or a watch to take out of it, and burning with curiosity, she ran across the field after it, \
and fortunately was just in time to see it pop down a large rabbit-hole under the hedge. In another moment \
down went Alice after it, never once considering how in the world she was to get out again. The rabbit-hole \
went straight on like a tunnel for some way, and then dipped suddenly down, so suddenly that Alice had not a \
moment to think about stopping herself before she found herself falling down a very deep well."""

CONTEXT, WIDTH, REPEATS, STEPS, BATCH = 24, 64, 3, 160, 32


class Block(nn.Module):
    def __init__(self, activation: nn.Module) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), activation, nn.Linear(2 * WIDTH, WIDTH), nn.Dropout(0.1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        x = x + F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return x + self.mlp(self.norm2(x))


class UniversalTransformer(nn.Module):
    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        activation = nn.GELU()
        self.tokens = nn.Embedding(vocabulary, WIDTH)
        self.positions = nn.Embedding(CONTEXT, WIDTH)
        self.block = Block(activation)
        self.output = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), activation, nn.LayerNorm(WIDTH))
        self.head = nn.Linear(WIDTH, vocabulary, bias=False)
        nn.init.normal_(self.tokens.weight, std=0.05)
        nn.init.normal_(self.positions.weight, std=0.05)
        self.head.weight = self.tokens.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for _ in range(REPEATS):
            x = self.block(x)
        return self.head(self.output(x))


def text_loss(model: UniversalTransformer, windows: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())


torch.manual_seed(0)
torch.set_num_threads(1)
alphabet = sorted(set(TEXT.lower()))
encoded = torch.tensor([alphabet.index(character) for character in TEXT.lower()])
boundary = int(0.85 * len(encoded))
train, valid = (part.unfold(0, CONTEXT + 1, 1) for part in (encoded[:boundary], encoded[boundary:]))

model = UniversalTransformer(len(alphabet))
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.05)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=STEPS)

for step in range(STEPS):
    model.train()
    loss = text_loss(model, train[torch.randint(len(train), (BATCH,))])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    if step % 40 == 39:
        model.eval()
        with torch.no_grad():
            valid_loss = text_loss(model, valid).item()
        print(f"step {step + 1}: loss {loss.item():.3f}  valid {valid_loss:.3f}")
