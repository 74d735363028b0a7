"""Slot filling for spoken requests with a GRU: which words name a time, a room or a device."""

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

SLOTS = {"<pad>": 0, "other": 1, "time": 2, "room": 3, "device": 4}
TIMES, ROOMS, DEVICES = ["noon", "seven", "midnight"], ["kitchen", "hall"], ["lamp", "heater", "radio", "fan"]
FILLERS = ["please", "turn", "the", "in", "at", "on", "off", "now", "would", "you", "could"]
WORDS = {word: i for i, word in enumerate(["<pad>", *FILLERS, *TIMES, *ROOMS, *DEVICES])}


def request(source: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """After "the" a device is meant, or a room, and it is only a filler after any other word."""
    words, slots = [], []
    for _ in range(int(torch.randint(2, 6, (1,), generator=source))):
        kinds = {"time": ("at", TIMES), "room": ("in", ROOMS), "device": ("the", DEVICES)}
        for _ in range(int(torch.randint(1, 4, (1,), generator=source))):
            words.append(FILLERS[int(torch.randint(len(FILLERS), (1,), generator=source))])
            slots.append("other")
        kind = list(kinds)[int(torch.randint(3, (1,), generator=source))]
        before, names = kinds[kind]
        words += [before, names[int(torch.randint(len(names), (1,), generator=source))]]
        slots += ["other", kind]
    return torch.tensor([WORDS[word] for word in words]), torch.tensor([SLOTS[slot] for slot in slots])


def collate(batch: list[tuple[torch.Tensor, torch.Tensor]]) -> tuple[torch.Tensor, torch.Tensor]:
    words, slots = zip(*batch)
    return pad_sequence(words, batch_first=True), pad_sequence(slots, batch_first=True)


class SlotFiller(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(WORDS), 24, padding_idx=0)
        self.gru = nn.GRU(24, 24, batch_first=True, bidirectional=True)
        self.out = nn.Linear(48, len(SLOTS))

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.out(self.gru(self.embed(words))[0])


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    source = torch.Generator().manual_seed(1)
    train = DataLoader([request(source) for _ in range(600)], batch_size=20, shuffle=True, collate_fn=collate)
    val = DataLoader([request(source) for _ in range(100)], batch_size=50, collate_fn=collate)
    model = SlotFiller()
    criterion = nn.CrossEntropyLoss(ignore_index=0)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(4):
        model.train()
        for words, slots in train:
            loss = criterion(model(words).transpose(1, 2), slots)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        right = total = 0
        with torch.no_grad():
            for words, slots in val:
                said = words > 0
                right += int((model(words).argmax(-1)[said] == slots[said]).sum())
                total += int(said.sum())
        print(f"epoch {epoch}  loss {loss.item():.4f}  words right {right / total:.3f}")


if __name__ == "__main__":
    main()
