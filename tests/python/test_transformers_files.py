"""Files of transformers against what PyTorch counts: FLOPs of small models with random weights, as they are saved."""
import ctypes
import json
import math

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


# ---- networks for pictures and sound ----

BODY = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
PATCHES = {**BODY, "image_size": 32, "patch_size": 8}
STAGES = {"depths": [1, 2, 1, 1], "hidden_sizes": [16, 32, 48, 64]}
SOUND = {**BODY, "conv_dim": [32] * 7, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4, "vocab_size": 30}
TOWERS = {"text_config": {**BODY, "vocab_size": 100}, "vision_config": PATCHES}
# Class, configuration, width of a head, sizes that are given. Inputs follow from the sizes.
NETWORKS = {"ViTForImageClassification": (PATCHES, 16, {}), "ViTModel": (PATCHES, 16, {}), "DeiTForImageClassificationWithTeacher": (PATCHES, 16, {}),
            "BeitForImageClassification": ({**PATCHES, "use_relative_position_bias": True}, 16, {}), "IJepaModel": (PATCHES, 16, {}),
            "Dinov2ForImageClassification": (PATCHES, 16, {}), "Dinov2WithRegistersModel": ({**PATCHES, "use_swiglu_ffn": True}, 16, {}),
            "DINOv3ViTModel": (PATCHES, 16, {}), "Data2VecVisionModel": (PATCHES, 16, {}), "CLIPModel": (TOWERS, 16, {"tokens": 20}),
            "CLIPVisionModel": (PATCHES, 16, {}), "CLIPTextModel": ({**BODY, "vocab_size": 100}, 16, {"tokens": 20}),
            "CLIPForImageClassification": (TOWERS, 16, {}), "SiglipModel": (TOWERS, 16, {"tokens": 20}), "SiglipVisionModel": (PATCHES, 16, {}),
            "SegformerForSemanticSegmentation": ({**STAGES, "num_attention_heads": [1, 2, 3, 4]}, 16, {"height": 64, "width": 96}),
            "SegformerForImageClassification": ({**STAGES, "num_attention_heads": [1, 2, 3, 4]}, 16, {"height": 64, "width": 64}),
            "SwinForImageClassification": ({"embed_dim": 32, "depths": [1, 2], "num_heads": [2, 4], "window_size": 4, "image_size": 64}, 16, {}),
            "ConvNextForImageClassification": ({**STAGES, "image_size": 64}, 16, {}),
            "ConvNextV2ForImageClassification": ({**STAGES, "image_size": 64}, 16, {}),
            "Swinv2ForImageClassification": ({"embed_dim": 32, "depths": [1, 2], "num_heads": [2, 4], "window_size": 4, "image_size": 64}, 16, {}),
            "EfficientNetForImageClassification": ({"image_size": 64, "width_coefficient": 1.0, "depth_coefficient": 1.1, "hidden_dim": 1280}, 16, {}),
            "MobileNetV1ForImageClassification": ({"image_size": 64, "depth_multiplier": 0.5}, 16, {}),
            "MobileNetV2ForImageClassification": ({"image_size": 64}, 16, {}),
            "MobileNetV2Model": ({"output_stride": 16, "first_layer_is_expansion": False}, 16, {"height": 64, "width": 96}),
            "YolosForObjectDetection": ({**PATCHES, "image_size": [32, 48], "num_detection_tokens": 5, "use_mid_position_embeddings": True}, 16,
                                        {"height": 32, "width": 48}),
            "ResNetForImageClassification": ({**STAGES, "embedding_size": 16}, 16, {"height": 64, "width": 96}),
            "ResNetModel": ({**STAGES, "embedding_size": 16, "layer_type": "basic", "downsample_in_first_stage": True}, 16, {"height": 64, "width": 64}),
            "DetrForObjectDetection": ({"use_pretrained_backbone": False, "d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
                                        "decoder_attention_heads": 4}, 16, {"height": 64, "width": 96}),
            "Wav2Vec2ForCTC": (SOUND, 16, {"samples": 4000}), "HubertForSequenceClassification": (SOUND, 16, {"samples": 4000}),
            "Wav2Vec2Model": ({**SOUND, "feat_extract_norm": "layer", "do_stable_layer_norm": True}, 16, {"samples": 4000}),
            "UniSpeechModel": (SOUND, 16, {"samples": 4000}), "WavLMModel": (SOUND, 16, {"samples": 4000}),
            "WavLMForCTC": ({**SOUND, "feat_extract_norm": "layer", "do_stable_layer_norm": True}, 16, {"samples": 4000}),
            "VideoMAEModel": ({**PATCHES, "num_frames": 8}, 16, {"frames": 8}),
            "VideoMAEForVideoClassification": ({**PATCHES, "num_frames": 4, "use_mean_pooling": True}, 16, {"frames": 4}),
            "VivitForVideoClassification": ({**PATCHES, "num_frames": 6, "tubelet_size": [2, 8, 8]}, 16, {"frames": 6}),
            "ASTForAudioClassification": ({**BODY, "max_length": 64, "num_mel_bins": 32}, 16, {})}


def saved(folder):
    """Names of the tensors of the one file in a folder."""
    data = next(folder.glob("*.safetensors")).read_bytes()
    return list(json.loads(data[8:8 + int.from_bytes(data[:8], "little")]))


def plain(graph, names, head):
    """FLOPs as PyTorch counts them: without 7 for each score of attention, and without the biases that are part of convolutions
    and of products with one row (Gemm). Operators have the names of modules."""
    biased = {name[:-5] for name in names if name.endswith(".bias")}
    made = {tensor.producer: math.prod(tensor.shape) for tensor in graph.tensors}
    total = 0
    for op in graph:
        if op.kind == "Attention":
            total += op.flops * 4 * head // (4 * head + 7)
        elif op.kind in ("Conv", "Gemm"):
            total += op.flops - (made[op.name] if op.name in biased else 0)
        elif op.kind == "MatMul":
            total += op.flops
    return total


def read(folder, sizes):
    dims = (c.situ_dim * len(sizes))(*(c.situ_dim(name.encode(), size) for name, size in sizes.items()))
    return situ.Graph.read(str(folder), c.situ_read_options(size=ctypes.sizeof(c.situ_read_options), dims=dims, n_dims=len(sizes)))


@pytest.mark.parametrize("name", NETWORKS)
def test_networks(tmp_path, name):
    config, head, sizes = NETWORKS[name]
    model_class = getattr(transformers, name, None)
    if model_class is None:
        pytest.skip(f"transformers has no {name}")
    torch.manual_seed(0)
    model = model_class(model_class.config_class(**config)).eval()
    model.save_pretrained(tmp_path)
    inputs = {}
    if "samples" in sizes:
        inputs["input_values"] = torch.zeros(1, sizes["samples"])
    elif name.startswith("AST"):
        inputs["input_values"] = torch.zeros(1, 64, 32)
    else:
        if "tokens" in sizes:
            inputs["input_ids"] = tokens(sizes["tokens"])
        if "Text" not in name:
            side = config.get("image_size", 32)
            film = [1, sizes["frames"], 3] if "frames" in sizes else [1, 3]
            inputs["pixel_values"] = torch.zeros(*film, sizes.get("height", side), sizes.get("width", side))
    assert plain(read(tmp_path, sizes), saved(tmp_path), head) == counted(model, **inputs) > 0


def diffusers_models(d, zeros):
    """Model, the width of a head, sizes, inputs."""
    stages = {"block_out_channels": (32, 64), "layers_per_block": 1, "norm_num_groups": 8}
    unet = {**stages, "sample_size": 16, "cross_attention_dim": 24, "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
            "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"), "attention_head_dim": [2, 4]}
    xl = {**unet, "use_linear_projection": True, "transformer_layers_per_block": [1, 2], "addition_embed_type": "text_time", "addition_time_embed_dim": 8,
          "projection_class_embeddings_input_dim": 6 * 8 + 10}
    joint = {"num_layers": 2, "num_attention_heads": 2, "attention_head_dim": 16, "joint_attention_dim": 24, "pooled_projection_dim": 20}
    patches = {"num_layers": 2, "num_attention_heads": 2, "attention_head_dim": 16, "sample_size": 16}
    latent, text, step = zeros(1, 4, 16, 16), zeros(1, 7, 24), zeros(1)
    return {
        "unet": (lambda: d.UNet2DConditionModel(**unet), 16, {"tokens": 7}, {"sample": latent, "timestep": step, "encoder_hidden_states": text}),
        "unet-xl": (lambda: d.UNet2DConditionModel(**xl), 16, {"tokens": 7}, {"sample": latent, "timestep": step, "encoder_hidden_states": text,
                    "added_cond_kwargs": {"text_embeds": zeros(1, 10), "time_ids": zeros(1, 6)}}),
        "autoencoder": (lambda: d.AutoencoderKL(**stages, sample_size=32, down_block_types=["DownEncoderBlock2D"] * 2, up_block_types=["UpDecoderBlock2D"] * 2),
                        64, {}, {"sample": zeros(1, 3, 32, 32)}),
        "flux": (lambda: d.FluxTransformer2DModel(**joint, in_channels=16, num_single_layers=2, axes_dims_rope=(4, 4, 8), guidance_embeds=True), 16,
                 {"tokens": 7, "patches": 12}, {"hidden_states": zeros(1, 12, 16), "encoder_hidden_states": text, "pooled_projections": zeros(1, 20),
                 "timestep": step, "img_ids": zeros(12, 3), "txt_ids": zeros(7, 3), "guidance": step}),
        "sd3": (lambda: d.SD3Transformer2DModel(**joint, sample_size=16, caption_projection_dim=32, dual_attention_layers=(0,), qk_norm="rms_norm"), 16,
                {"tokens": 7}, {"hidden_states": zeros(1, 16, 16, 16), "encoder_hidden_states": text, "pooled_projections": zeros(1, 20), "timestep": step}),
        "pixart": (lambda: d.PixArtTransformer2DModel(**patches, cross_attention_dim=32, caption_channels=24), 16, {"tokens": 7},
                   {"hidden_states": latent, "encoder_hidden_states": text, "timestep": step, "added_cond_kwargs": {"resolution": None, "aspect_ratio": None}})}


@pytest.mark.parametrize("name", ["unet", "unet-xl", "autoencoder", "flux", "sd3", "pixart"])
def test_diffusion(tmp_path, name):
    d = pytest.importorskip("diffusers", reason="diffusers is absent")
    make, head, sizes, inputs = diffusers_models(d, torch.zeros)[name]
    model = make().eval()
    model.save_pretrained(tmp_path)
    assert plain(read(tmp_path, sizes), saved(tmp_path), head) == counted(model, **inputs) > 0


def test_a_pipeline_of_diffusers(tmp_path):
    """Text encoder, three steps of the UNet, decoder: what PyTorch counts of each module that a run calls."""
    d = pytest.importorskip("diffusers", reason="diffusers is absent")
    text = transformers.CLIPTextModel(transformers.CLIPTextConfig(**{**BODY, "hidden_size": 32, "num_attention_heads": 2, "vocab_size": 100})).eval()
    unet = d.UNet2DConditionModel(block_out_channels=(32, 64), layers_per_block=1, sample_size=32, cross_attention_dim=32, attention_head_dim=2,
                                  down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
                                  norm_num_groups=8).eval()
    vae = d.AutoencoderKL(block_out_channels=(32, 64), down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2,
                          norm_num_groups=8).eval()
    parts = {"vae": vae, "text_encoder": text, "tokenizer": None, "unet": unet, "scheduler": d.DDIMScheduler(), "safety_checker": None,
             "feature_extractor": None, "image_encoder": None}
    d.StableDiffusionPipeline(**parts).save_pretrained(tmp_path)
    latent = torch.zeros(1, 4, 32, 32)
    expected = counted(text, tokens(77)) + 3 * counted(unet, latent, torch.zeros(1), torch.zeros(1, 77, 32)) + counted(vae.decode, latent)
    ours = sum(op.flops for op in read(tmp_path, {"steps": 3, "vae.height": 64, "vae.width": 64}) if op.kind in PRODUCTS | {"Gemm"})
    assert expected < ours < 1.02 * expected  # with biases, and 7 for each score of attention


TIMM = ["vit_tiny_patch16_224", "deit_tiny_distilled_patch16_224", "vit_base_patch32_clip_224", "resnet18", "resnext50_32x4d", "convnext_atto"]


@pytest.mark.parametrize("name", TIMM)
def test_timm(tmp_path, name):
    """The names that the library gives its modules, and its own config.json."""
    timm = pytest.importorskip("timm", reason="timm is absent")
    save_file = pytest.importorskip("safetensors.torch").save_file
    model = timm.create_model(name).eval()
    save_file(model.state_dict(), tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps({"architecture": name, "pretrained_cfg": {"input_size": [3, 224, 224]}}))
    assert plain(read(tmp_path, {}), saved(tmp_path), 64) == counted(model, torch.zeros(1, 3, 224, 224)) > 0


# ---- decoders by the names of src/read/lm_doubts.c ----

# What configurations call their sizes; each model takes those that it has.
SMALL = {**dict.fromkeys(["hidden_size", "n_embd", "d_model", "word_embed_proj_dim", "moe_intermediate_size", "shared_expert_intermediate_size",
                          "moe_shared_expert_intermediate_size", "max_position_embeddings", "n_positions", "n_ctx"], 64),
         **dict.fromkeys(["num_hidden_layers", "n_layer", "num_layers", "n_layers", "decoder_layers", "num_experts_per_tok", "num_key_value_heads",
                          "num_kv_heads", "eos_token_id"], 2),
         **dict.fromkeys(["num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads", "num_local_experts", "num_experts",
                          "n_routed_experts", "moe_num_experts"], 4),
         **dict.fromkeys(["intermediate_size", "ffn_dim", "decoder_ffn_dim", "n_inner", "d_ff", "ffn_hidden_size"], 128),
         **dict.fromkeys(["head_dim", "rotary_dim", "qk_nope_head_dim", "v_head_dim", "kv_lora_rank"], 16), "vocab_size": 300, "qk_rope_head_dim": 8,
         "q_lora_rank": 24, "pad_token_id": 0, **dict.fromkeys(["bos_token_id", "n_group", "topk_group", "first_k_dense_replace"], 1)}
OPEN = {"num_key_value_heads", "head_dim", "pad_token_id", "n_inner", "ffn_dim"}  # sizes that may be None
LISTED = """apertus arcee bitnet bloom codegen cohere cohere2 cwm doge ernie4_5 exaone4 falcon gemma gemma2 gemma3_text glm glm4 gpt_bigcode gpt_neox
    gptj granite helium hunyuan_v1_dense jais2 lfm2 llama ministral mistral mpt nanochat nemotron olmo olmo2 olmo3 persimmon phi qwen2 qwen3 seed_oss
    smollm3 stablelm vaultgemma xglm
    afmoe aria_text cohere2_moe ernie4_5_moe exaone_moe flex_olmo glm4_moe glm4_moe_lite gpt_oss granitemoe granitemoeshared hunyuan_v1_moe minimax_m2
    mixtral olmoe phimoe qwen2_moe qwen3_moe""".split()


def shrunk(config_class):
    usual = config_class()
    sizes = {}
    for name, size in SMALL.items():
        now = getattr(usual, name, False)
        if (isinstance(now, int) and not isinstance(now, bool)) or (now is None and name in OPEN):
            sizes[name] = size
    if "kv_lora_rank" in sizes:
        sizes["num_key_value_heads"] = 4
    if usual.model_type == "falcon":
        sizes.pop("head_dim", None)
    if getattr(usual, "layer_types", None) and usual.model_type != "falcon":
        sizes["layer_types"] = list(usual.layer_types)[:2]
    return config_class(**sizes)


@pytest.mark.parametrize("model_type", LISTED)
def test_listed_decoders(tmp_path, model_type):
    """Experts run one by one, and attention as products, for these are counted."""
    auto = transformers.models.auto
    if model_type not in auto.configuration_auto.CONFIG_MAPPING_NAMES or model_type not in auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        pytest.skip(f"transformers has no {model_type}")
    torch.manual_seed(0)
    config = shrunk(getattr(transformers, auto.configuration_auto.CONFIG_MAPPING_NAMES[model_type]))
    config._experts_implementation = config._attn_implementation = "eager"
    model = getattr(transformers, auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES[model_type])(config).eval()
    model.save_pretrained(tmp_path)
    assert flops(tmp_path, context=1) == counted(model, tokens(1), use_cache=False) > 0
    guesses = situ.Graph.read(str(tmp_path), c.situ_read_options(size=ctypes.sizeof(c.situ_read_options), context=1)).guesses
    assert all(guess.subject != "architecture" for guess in guesses), guesses
