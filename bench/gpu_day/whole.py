#!/usr/bin/env python3
"""Whole networks on one GPU, run by PyTorch operator by operator: the time that datasheets predict, and the measured one.

    whole.py OUT.csv [--seconds 80] [--small]

Nothing is calibrated: the card is the row of the catalogue with its name. Products of 32-bit numbers stay in 32 bits."""
import situ
import situ.torch
import torch
import torchvision
import transformers
from common import GPU, card, main, median_ms

HEAD = ["model", "type", "batch", "tokens", "operators", "predicted_ms", "measured_ms", "card"]


def text_model(kind, config, tokens, batch, **sizes):
    made = getattr(transformers, config)(**sizes)
    made.use_cache = False
    return getattr(transformers, kind)(made), lambda: {"input_ids": torch.randint(0, 1000, (batch, tokens)), "return_dict": False}


def image(name, batch, side=224):
    return getattr(torchvision.models, name)(weights=None), lambda: (torch.randn(batch, 3, side, side),)


def llama(tokens, batch=1):
    return text_model("LlamaForCausalLM", "LlamaConfig", tokens, batch, vocab_size=32000, hidden_size=2048, intermediate_size=5632,
                      num_hidden_layers=22, num_attention_heads=32, num_key_value_heads=4)


def chain(make, width):
    return torch.nn.Sequential(*[make() for _ in range(200)]), lambda: (torch.randn(1, width),)


def cases(small):
    n = 1 if small else 32
    yield "200 small ReLU", "f32", 1, 0, lambda: chain(torch.nn.ReLU, 16)
    yield "200 small Linear", "f32", 1, 0, lambda: chain(lambda: torch.nn.Linear(16, 16), 16)
    for tokens, batch in [(128, 1), (128, n)]:
        for kind in ("f32", "f16"):
            yield "bert-base", kind, batch, tokens, lambda t=tokens, b=batch: text_model("BertModel", "BertConfig", t, b)
    for tokens in (1, 512) if small else (1, 512, 4096):
        yield "llama-1.1b", "f16", 1, tokens, lambda t=tokens: llama(t)
    yield "gpt2", "f16", 1, 1024, lambda: text_model("GPT2LMHeadModel", "GPT2Config", 1024, 1)
    for name, batch in [("resnet50", 1), ("resnet50", n), ("vgg16", n), ("densenet121", n), ("mobilenet_v2", n), ("vit_b_16", n),
                        ("efficientnet_b0", n), ("convnext_tiny", n)]:
        for kind in ["f32"] if batch == 1 else ["f32", "f16"]:
            yield f"{name}", kind, batch, 0, lambda name=name, batch=batch: image(name, batch)


def made(build, kind, device):
    with torch.device(device):
        module, inputs = build()
        given = inputs()
    cast = torch.float16 if kind == "f16" else torch.float32
    to = lambda x: x.to(cast) if torch.is_tensor(x) and x.is_floating_point() else x
    return module.eval().to(cast), tuple(map(to, given)) if isinstance(given, tuple) else given


def measure(rows, name, kind, batch, tokens, build):
    title, row = card()
    graph = situ.torch.graph(*made(build, kind, "meta"))
    plan = situ.place(graph, f"cpu+{row}", fix={op.name: "gpu0" for op in graph}, fusion="none", cost_engine="eager")
    module, given = made(build, kind, GPU)
    with torch.inference_mode():
        ms = median_ms((lambda: module(*given)) if isinstance(given, tuple) else (lambda: module(**given)))
    rows.add(name, kind, batch, tokens or "", len(graph), plan.value_ns / 1e6, ms, title)


if __name__ == "__main__":
    main(HEAD, cases, measure, 80)
