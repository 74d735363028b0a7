"""Models of transformers are compared like any other."""

from __future__ import annotations

import pytest
import torch

import paramedic

pytestmark = pytest.mark.slow  # the import alone takes seconds


def test_a_setting_that_differs_is_named_and_proven() -> None:
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    mine = BertModel(BertConfig(**sizes, vocab_size=50)).eval()
    other = BertModel(BertConfig(**sizes, vocab_size=50, layer_norm_eps=1e-5)).eval()
    other.load_state_dict(mine.state_dict())
    found = str(paramedic.compare(mine, other, (torch.randint(0, 50, (2, 10)),)))
    assert "embeddings.LayerNorm" in found and "eps is 1e-12 in a and 1e-05 in b" in found and "confirmed" in found
    twin = BertModel(BertConfig(**sizes, vocab_size=50)).eval()
    twin.load_state_dict(mine.state_dict())
    assert "agree" in str(paramedic.compare(mine, twin, (torch.randint(0, 50, (2, 10)),))).partition("Verdict:")[2]
