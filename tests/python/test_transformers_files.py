"""Files of transformers against what PyTorch counts: FLOPs of small models with random weights, as they are saved."""
import ctypes

import pytest

torch = pytest.importorskip("torch", reason="torch is absent")
transformers = pytest.importorskip("transformers", reason="transformers is absent")

import situ  # noqa: E402
from situ import _interface as c  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

TOKENS = 24
PRODUCTS = {"MatMul", "Conv", "Attention", "ExpertsMatMul"}
WIDE = {"vocab_size": 300, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
GROUPED = {**WIDE, "num_key_value_heads": 2, "max_position_embeddings": 64}
T5 = {"vocab_size": 300, "d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 4}
BART = {"d_model": 64, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 128,
        "decoder_ffn_dim": 128, "vocab_size": 300, "max_position_embeddings": TOKENS, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
        "decoder_start_token_id": 1}
ENCODERS = {"Bert": "Model", "Bert.": "ForMaskedLM", "Roberta": "Model", "Roberta.": "ForMaskedLM", "XLMRoberta": "Model", "Electra": "Model",
            "MPNet": "Model", "Ernie": "Model"}
DECODERS = {"Llama": GROUPED, "Qwen3": {**GROUPED, "head_dim": 16}, "Gemma2": {**GROUPED, "head_dim": 16}, "Phi3": {**GROUPED, "pad_token_id": 0},
            "GPT2": {"vocab_size": 300, "n_embd": 64, "n_layer": 2, "n_head": 4}, "GPTNeo": {"vocab_size": 300, "hidden_size": 64, "num_layers": 2,
            "num_heads": 4, "attention_types": [[["global"], 2]], "intermediate_size": 128}, "OPT": {**WIDE, "ffn_dim": 128, "word_embed_proj_dim": 32},
            "Falcon": {**WIDE, "num_kv_heads": 1}, "Starcoder2": GROUPED, "BioGpt": WIDE}
PAIRS = {"T5": T5, "MT5": T5, "UMT5": T5, "Bart": BART, "MBart": BART, "Pegasus": BART, "M2M100": BART, "Blenderbot": BART, "PLBart": BART,
         "Whisper": {**BART, "num_mel_bins": 20, "max_source_positions": TOKENS, "max_target_positions": 48}}


def made(folder, name, ending, config):
    torch.manual_seed(0)
    name = name.rstrip(".")
    try:
        model = getattr(transformers, name + ending)(getattr(transformers, name + "Config")(**config)).eval()
    except AttributeError as absent:
        pytest.skip(str(absent))
    model.save_pretrained(folder)
    return model


def flops(folder, **load):
    options = c.situ_read_options(size=ctypes.sizeof(c.situ_read_options), **load)
    return sum(op.flops for op in situ.Graph.read(str(folder), options) if op.kind in PRODUCTS)


def counted(function, *inputs, **named):
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter, torch.no_grad():
        function(*inputs, **named)
    return counter.get_total_flops()


def tokens(n):
    return torch.ones(1, n, dtype=torch.long)


@pytest.mark.parametrize("name", ENCODERS)
def test_encoders(tmp_path, name):
    model = made(tmp_path, name, ENCODERS[name], {**WIDE, "max_position_embeddings": 66})
    assert flops(tmp_path, prompt=TOKENS) == counted(model, tokens(TOKENS)) > 0


@pytest.mark.parametrize("name", DECODERS)
def test_decoders(tmp_path, name):
    ending = "LMHeadModel" if name == "GPT2" else "ForCausalLM"
    model = made(tmp_path, name, ending, DECODERS[name])
    assert flops(tmp_path, context=1) == counted(model, tokens(1)) > 0


@pytest.mark.parametrize("name", PAIRS)
def test_encoder_decoders(tmp_path, name):
    """The encoder alone; then, with the decoder's first token, the rest."""
    model = made(tmp_path, name, "ForConditionalGeneration", PAIRS[name])
    text = {"input_features": torch.zeros(1, 20, 2 * TOKENS)} if name == "Whisper" else {"input_ids": tokens(TOKENS)}
    whole = counted(model, **text, decoder_input_ids=tokens(1))
    encoder = counted(model.get_encoder(), **text)
    inner = 64
    crossing = 3 * 2 * (2 * 64 * inner) * TOKENS  # keys and values of three blocks
    assert flops(tmp_path, prompt=TOKENS) == encoder + crossing
    longer = 0 if PAIRS[name] is not T5 else 3 * 4 * inner * (512 - TOKENS)  # a T5 has no length: 512 tokens were read
    assert flops(tmp_path, context=1) == whole - encoder - crossing + longer
