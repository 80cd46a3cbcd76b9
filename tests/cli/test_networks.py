#!/usr/bin/env python3
"""Networks for pictures and sound in safetensors: FLOPs by arithmetic and as published, bytes of the file, sizes that may
be given, and what is refused. Files have no data. test_transformers_files.py compares more of them with PyTorch.

    test_networks.py SITU [NAME...]
"""
import json
import math
import pathlib
import struct
import shutil
import sys

from test_cli import SHARE, main, situ, situ_json

BITS = {"F32": 32, "F16": 16, "BF16": 16, "I64": 64}


def save(folder, config, shapes, dtype="F32", **more):
    """Headers alone; integers where the name says so. Other files of the folder by their names. Returns the bytes of weights."""
    folder, header, end, floats = pathlib.Path(folder), {}, 0, 0
    folder.mkdir(exist_ok=True)
    for name, shape in shapes.items():
        kind = "I64" if name.endswith(("position_ids", "num_batches_tracked")) else dtype
        n = math.prod(shape) * BITS[kind] // 8
        floats += 0 if kind == "I64" else n
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [end, end + n]}
        end += n
    text = json.dumps(header).encode()
    file = "diffusion_pytorch_model.safetensors" if "_class_name" in config else "model.safetensors"
    (folder / file).write_bytes(struct.pack("<Q", len(text)) + text)
    (folder / "config.json").write_text(json.dumps(config))
    for name, content in more.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return floats


def linear(t, name, out, n, bias=True):
    t[name + ".weight"] = [out, n]
    if bias:
        t[name + ".bias"] = [out]


def norm(t, name, width):
    t[name + ".weight"] = t[name + ".bias"] = [width]


def conv(t, name, out, n, kernel, bias=True, sides=2):
    t[name + ".weight"] = [out, n] + [kernel] * sides
    if bias:
        t[name + ".bias"] = [out]


def products(path, *options):
    """FLOPs of products, convolutions without their biases' sums, and attention: 2 for each of its two products; the count
    has 7 more for each score (scale, mask, softmax)."""
    said = situ_json("inspect", path, *options)
    kinds = {row["kind"]: row["flops"] for row in said["kinds"]}
    return said, kinds.get("MatMul", 0) + kinds.get("Gemm", 0), kinds.get("Conv", 0), kinds.get("Attention", 0)


def attention(heads, width, queries, keys):
    return queries * keys * heads * (4 * width + 7)


# ---- transformers over patches ----

def block(t, b, names, width, wide):
    q, k, v, out, up, down, first, second = names
    for name in (q, k, v, out):
        linear(t, b + name, width, width)
    linear(t, b + up, wide, width)
    linear(t, b + down, width, wide)
    norm(t, b + first, width)
    norm(t, b + second, width)


OLD = ("attention.attention.query", "attention.attention.key", "attention.attention.value", "attention.output.dense", "intermediate.dense", "output.dense",
       "layernorm_before", "layernorm_after")
NEW = ("attention.q_proj", "attention.k_proj", "attention.v_proj", "attention.o_proj", "mlp.fc1", "mlp.fc2", "layernorm_before", "layernorm_after")
CLIP = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj", "mlp.fc1", "mlp.fc2", "layer_norm1", "layer_norm2")


def vit(names=OLD, path="vit.encoder.layer", layers=12, width=768, patch=16, side=224, classes=1000):
    n = (side // patch) ** 2
    t = {"vit.embeddings.cls_token": [1, 1, width], "vit.embeddings.position_embeddings": [1, n + 1, width]}
    conv(t, "vit.embeddings.patch_embeddings.projection", width, 3, patch)
    for i in range(layers):
        block(t, f"{path}.{i}.", names, width, 4 * width)
    norm(t, "vit.layernorm", width)
    linear(t, "classifier", classes, width)
    return t, {"model_type": "vit", "hidden_size": width, "num_attention_heads": width // 64, "patch_size": patch, "image_size": side}


def by_transformer(layers, width, tokens):
    """FLOPs of matrices and of attention, of blocks four times as wide within."""
    return layers * tokens * 2 * 12 * width * width, layers * attention(width // 64, 64, tokens, tokens)


def check_vit(folder, patches, side, *options):
    said, matrices, convolutions, attends = products(folder, *options)
    body, scores = by_transformer(12, 768, patches + 1)
    assert matrices == body + 2 * 768 * 1000, (folder, matrices, body)
    assert convolutions == patches * 768 * (2 * 3 * 16 * 16 + 1), (folder, convolutions)
    assert attends == scores, (folder, attends, scores)
    assert said["unknown"] == [], said["unknown"]
    assert f"height {side}" in " ".join(said["notes"]), said["notes"]
    return said


def test_a_vit_costs_what_is_published():
    """ViT-B/16 at 224: 17.6 G multiplications with additions (timm's table: 17.58; MatMul, Conv and attention)."""
    for names, path in ((OLD, "vit.encoder.layer"), (NEW, "vit.layers")):
        tensors, config = vit(names, path)
        size = save("v", config, tensors)
        said = check_vit("v", 196, 224)
        assert said["total"]["weight_bytes"] == size
        assert "tokens_per_second" not in json.dumps(said)
        _, matrices, convolutions, attends = products("v")
        macs = (matrices + convolutions + attends * 256 // 263) / 2e9
        assert abs(macs - 17.58) < 0.02, macs


def test_the_size_of_pictures_is_given_said_or_guessed():
    tensors, config = vit()
    save("v", config, tensors)
    check_vit("v", 576, 384, "--dim", "height=384", "--dim", "width=384")
    save("v", config, tensors, preprocessor_config={"size": {"height": 384, "width": 384}})
    check_vit("v", 576, 384)
    pathlib.Path("v/preprocessor_config.json").unlink()
    del config["image_size"]
    save("v", config, tensors)
    assert [(row["kind"], row["subject"]) for row in situ_json("inspect", "v")["unknown"]] == [("size", "height"), ("size", "width")]
    save("v", config, tensors, preprocessor_config={"size": {"shortest_edge": 224}})  # the other side is open
    assert len(situ_json("inspect", "v")["unknown"]) == 2
    save("v", config, tensors, preprocessor_config={"size": {"shortest_edge": 256}, "crop_size": {"height": 224, "width": 224}})
    check_vit("v", 196, 224)
    situ("inspect", "v", "--dim", "heigth=224", code=2, err="did you mean height")
    for option in ("--prompt", "--context", "--generate"):
        situ("inspect", "v", option, "8", code=2, err="generates no text")
    assert situ_json("inspect", "v", "--batch", "3")["kinds"][0]["flops"] == 3 * situ_json("inspect", "v")["kinds"][0]["flops"]
    half = situ_json("inspect", "v", "--precision", "f16")["total"]["weight_bytes"]
    assert 2 * half == situ_json("inspect", "v")["total"]["weight_bytes"]


def test_a_plan_of_a_picture_network_is_placed_checked_and_written():
    tensors, config = vit(layers=4)
    save("v", config, tensors)
    said = situ_json("place", "v", "--platform", "cpu+rtx3090", "--steps", "50", "-o", "plan.json", "--write", "device-map=map.json")
    assert "tokens_per_second" not in said, said
    placed = json.loads(pathlib.Path("map.json").read_text())
    assert [name for name in placed if name.startswith("vit.encoder.layer.")] == [f"vit.encoder.layer.{i}" for i in range(4)], placed
    assert "vit.embeddings.patch_embeddings.projection" in placed and "classifier" in placed, placed
    situ("check", "plan.json")
    situ("place", "v", "--platform", "cpu+rtx3090", "--steps", "50", "--training")


def test_both_towers_of_clip():
    """CLIP ViT-L/14: 81.1 G multiplications with additions of the tower for pictures (timm's table) and a text of 77 tokens."""
    t = {"logit_scale": []}
    for tower, width, layers in (("text_model", 768, 12), ("vision_model", 1024, 24)):
        for i in range(layers):
            block(t, f"{tower}.encoder.layers.{i}.", CLIP, width, 4 * width)
    t |= {"text_model.embeddings.token_embedding.weight": [49408, 768], "text_model.embeddings.position_embedding.weight": [77, 768],
          "text_model.embeddings.position_ids": [1, 77], "vision_model.embeddings.position_ids": [1, 257],
          "vision_model.embeddings.class_embedding": [1024], "vision_model.embeddings.position_embedding.weight": [257, 1024]}
    conv(t, "vision_model.embeddings.patch_embedding", 1024, 3, 14, bias=False)
    for name, width in (("text_model.final_layer_norm", 768), ("vision_model.pre_layrnorm", 1024), ("vision_model.post_layernorm", 1024)):
        norm(t, name, width)
    linear(t, "visual_projection", 768, 1024, bias=False)
    linear(t, "text_projection", 768, 768, bias=False)
    config = {"model_type": "clip", "text_config": {"model_type": "clip_text_model", "hidden_size": 768, "num_attention_heads": 12, "num_hidden_layers": 12},
              "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024, "num_attention_heads": 16, "patch_size": 14, "image_size": 224}}
    size = save("c", config, t, "F16")
    said, matrices, convolutions, attends = products("c")
    (picture, looked), (text, read) = by_transformer(24, 1024, 257), by_transformer(12, 768, 77)
    assert matrices == picture + text + 2 * 768 * 1024 + 2 * 768 * 768 + 2 * 768, (matrices, picture, text)
    assert convolutions == 256 * 1024 * 2 * 3 * 14 * 14 and attends == looked + read
    assert (said["total"]["weight_bytes"], said["unknown"]) == (size, [])
    macs = (picture + convolutions + looked * 256 // 263) / 2e9
    assert abs(macs - 81.1) < 0.2, macs
    shorter = products("c", "--dim", "tokens=20")
    assert shorter[1] - matrices == by_transformer(12, 768, 20)[0] - text


def test_siglip2_reads_patches_that_are_cut_beforehand():
    """At most 256 of 16 x 16 x 3 values, by a product in place of a convolution; one learned query looks at all of them."""
    width, t = 128, {"logit_scale": [1], "logit_bias": [1], "vision_model.head.probe": [1, 1, 128], "vision_model.head.attention.in_proj_weight": [384, 128],
                     "vision_model.head.attention.in_proj_bias": [384], "vision_model.embeddings.position_embedding.weight": [256, 128],
                     "text_model.embeddings.token_embedding.weight": [1000, 128], "text_model.embeddings.position_embedding.weight": [64, 128]}
    linear(t, "vision_model.embeddings.patch_embedding", width, 768)
    linear(t, "vision_model.head.attention.out_proj", width, width)
    linear(t, "vision_model.head.mlp.fc1", 4 * width, width)
    linear(t, "vision_model.head.mlp.fc2", width, 4 * width)
    linear(t, "text_model.head", width, width)
    for name in ("vision_model.head.layernorm", "vision_model.post_layernorm", "text_model.final_layer_norm"):
        norm(t, name, width)
    for tower in ("text_model", "vision_model"):
        for i in range(2):
            block(t, f"{tower}.encoder.layers.{i}.", CLIP, width, 4 * width)
    part = {"hidden_size": width, "num_attention_heads": 2}
    size = save("s", {"model_type": "siglip2", "text_config": part, "vision_config": {**part, "num_patches": 256, "patch_size": 16}}, t)
    for n, given in ((256, []), (100, ["--dim", "patches=100"])):
        said, matrices, convolutions, attends = products("s", *given)
        (picture, looked), (text, read) = by_transformer(2, width, n), by_transformer(2, width, 64)
        pooled = 2 * width * width * (2 + 2 * n + 8)  # query and output, keys and values of all, two products of four times the width
        assert matrices == picture + text + 2 * n * 768 * width + pooled + 2 * width * width + 2 * width, (n, matrices)
        assert convolutions == 0 and attends == looked * 1 + read + attention(2, width // 2, 1, n) , (n, attends, looked, read)
        assert said["unknown"] == [] and (n < 256 or said["total"]["weight_bytes"] == size), said["total"]


# ---- stages ----

def segformer(widths=(32, 64, 160, 256), depths=(2, 2, 2, 2), head=256, classes=150, reductions=(8, 4, 2, 1)):
    """B0. Returns its tensors and its FLOPs for a picture of a side: matrices, convolutions, attention."""
    t, last = {}, 3
    for i, (width, depth, reduction) in enumerate(zip(widths, depths, reductions)):
        conv(t, f"segformer.encoder.patch_embeddings.{i}.proj", width, last, 3 if i else 7)
        norm(t, f"segformer.encoder.patch_embeddings.{i}.layer_norm", width)
        norm(t, f"segformer.encoder.layer_norm.{i}", width)
        last = width
        for k in range(depth):
            b = f"segformer.encoder.block.{i}.{k}."
            for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
                linear(t, b + name, width, width)
            if reduction > 1:
                conv(t, b + "attention.self.sr", width, width, reduction)
                norm(t, b + "attention.self.layer_norm", width)
            linear(t, b + "mlp.dense1", 4 * width, width)
            conv(t, b + "mlp.dwconv.dwconv", 4 * width, 1, 3)
            linear(t, b + "mlp.dense2", width, 4 * width)
            norm(t, b + "layer_norm_1", width)
            norm(t, b + "layer_norm_2", width)
        linear(t, f"decode_head.linear_c.{i}.proj", head, width)
    conv(t, "decode_head.linear_fuse", head, 4 * head, 1, bias=False)
    norm(t, "decode_head.batch_norm", head)
    t |= {f"decode_head.batch_norm.{name}": [head] for name in ("running_mean", "running_var")} | {"decode_head.batch_norm.num_batches_tracked": []}
    conv(t, "decode_head.classifier", classes, head, 1)
    config = {"model_type": "segformer", "depths": depths, "hidden_sizes": widths, "num_attention_heads": (1, 2, 5, 8), "sr_ratios": reductions,
              "patch_sizes": (7, 3, 3, 3), "strides": (4, 2, 2, 2), "image_size": 224}

    def work(side):
        matrices = convolutions = attends = 0
        last, first = 3, (side // 4) ** 2
        for i, (width, depth, reduction) in enumerate(zip(widths, depths, reductions)):
            side //= 2 if i else 4
            n = side * side
            keys = n // reduction**2
            convolutions += n * width * (2 * last * (9 if i else 49) + 1)
            matrices += depth * 2 * width * width * (2 * n + 2 * keys + 8 * n) + 2 * n * width * head
            convolutions += depth * n * 4 * width * (2 * 9 + 1)
            convolutions += depth * keys * width * (2 * width * reduction**2 + 1) if reduction > 1 else 0
            attends += depth * attention((1, 2, 5, 8)[i], 32, n, keys)
            last = width
        return matrices, convolutions + first * (2 * 4 * head * head + classes * (2 * head + 1)), attends

    return t, config, work


def test_a_segformer_costs_what_is_published():
    """B0 at 512: 8.4 G multiplications with additions (Xie et al. 2021, table 1)."""
    tensors, config, work = segformer()
    size = save("s", config, tensors)
    for side in (224, 512):
        said, *found = products("s", "--dim", f"height={side}", "--dim", f"width={side}")
        assert tuple(found) == work(side), (found, work(side))
        assert (said["total"]["weight_bytes"], said["unknown"]) == (size, [])
    macs = (found[0] + found[1] + found[2] * 128 // 135) / 2e9
    assert abs(macs - 8.4) < 0.05, macs
    save("s", config, tensors, preprocessor_config={"size": {"height": 512, "width": 512}})
    assert tuple(products("s")[1:]) == work(512)


def test_a_swin_costs_what_is_published():
    """Swin-T at 224: 4.5 G multiplications with additions (Liu et al. 2021, table 1)."""
    t, width, n, matrices, attends = {}, 96, 56 * 56, 0, 0
    conv(t, "swin.embeddings.patch_embeddings.projection", width, 3, 4)
    norm(t, "swin.embeddings.norm", width)
    for i, depth in enumerate((2, 2, 6, 2)):
        for k in range(depth):
            b = f"swin.encoder.layers.{i}.blocks.{k}."
            for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
                linear(t, b + name, width, width)
            linear(t, b + "intermediate.dense", 4 * width, width)
            linear(t, b + "output.dense", width, 4 * width)
            norm(t, b + "layernorm_before", width)
            norm(t, b + "layernorm_after", width)
            t[b + "attention.self.relative_position_bias_table"] = [169, width // 32]
            matrices += 2 * 12 * width * width * n
            attends += attention(width // 32, 32, n, 49)
        if i < 3:
            linear(t, f"swin.encoder.layers.{i}.downsample.reduction", 2 * width, 4 * width, bias=False)
            norm(t, f"swin.encoder.layers.{i}.downsample.norm", 4 * width)
            n //= 4
            matrices += 2 * 8 * width * width * n
            width *= 2
    norm(t, "swin.layernorm", width)
    linear(t, "classifier", 1000, width)
    config = {"model_type": "swin", "num_heads": [3, 6, 12, 24], "depths": [2, 2, 6, 2], "window_size": 7, "image_size": 224}
    size = save("w", config, t)
    said, *found = products("w")
    assert found == [matrices + 2 * 1000 * width, 56 * 56 * 96 * (2 * 48 + 1), attends], (found, matrices, attends)
    assert (said["total"]["weight_bytes"], said["unknown"]) == (size, [])
    assert abs((sum(found) - attends * 7 // 135) / 2e9 - 4.5) < 0.05, found
    situ("inspect", "w", "--dim", "height=256", "--dim", "width=256", code=3, err="windows of 7 do not divide")


# ---- convolutions ----

def batch_norm(t, name, width):
    norm(t, name, width)
    t |= {f"{name}.running_mean": [width], f"{name}.running_var": [width], f"{name}.num_batches_tracked": []}


def resnet50(of_timm):
    """Returns its tensors and the multiplications with additions of its convolutions at 224."""
    t, macs, last, side = {}, 112 * 112 * 64 * 3 * 49, 64, 56
    stem = "" if of_timm else "resnet.embedder.embedder."
    conv(t, stem + ("conv1" if of_timm else "convolution"), 64, 3, 7, bias=False)
    batch_norm(t, stem + ("bn1" if of_timm else "normalization"), 64)
    for i, (depth, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        for k in range(depth):
            b = f"layer{i + 1}.{k}." if of_timm else f"resnet.encoder.stages.{i}.layers.{k}."
            before, side = side, side // (2 if i and k == 0 else 1)
            for j, (out, n, kernel, at) in enumerate(((width, last, 1, before), (width, width, 3, side), (4 * width, width, 1, side))):
                conv(t, b + (f"conv{j + 1}" if of_timm else f"layer.{j}.convolution"), out, n, kernel, bias=False)
                batch_norm(t, b + (f"bn{j + 1}" if of_timm else f"layer.{j}.normalization"), out)
                macs += at * at * out * n * kernel * kernel
            if k == 0:
                conv(t, b + ("downsample.0" if of_timm else "shortcut.convolution"), 4 * width, last, 1, bias=False)
                batch_norm(t, b + ("downsample.1" if of_timm else "shortcut.normalization"), 4 * width)
                macs += side * side * 4 * width * last
            last = 4 * width
    linear(t, "fc" if of_timm else "classifier.1", 1000, 2048)
    return t, macs


def test_a_resnet_costs_what_is_published():
    """ResNet-50 at 224: 4.1 G multiplications with additions (torchvision's table: 4.09), as transformers and timm name it."""
    for of_timm, config in ((False, {"model_type": "resnet", "layer_type": "bottleneck", "image_size": 224}),
                            (True, {"architecture": "resnet50", "pretrained_cfg": {"input_size": [3, 224, 224]}})):
        tensors, macs = resnet50(of_timm)
        size = save("r", config, tensors)
        said = situ_json("inspect", "r")
        kinds = {row["kind"]: row for row in said["kinds"]}
        assert kinds["Conv"]["flops"] == 2 * macs and kinds["Gemm"]["flops"] == (2 * 2048 + 1) * 1000, (kinds, macs)
        assert abs(macs / 1e9 + 0.002 - 4.09) < 0.01, macs
        assert (kinds["Conv"]["count"], said["total"]["weight_bytes"], said["unknown"]) == (53, size, []), said
    del tensors["layer3.2.conv2.weight"]
    save("r", config, tensors)
    situ("inspect", "r", code=3, err=r"resnet50.: as a network of convolutions .ResNet. it lacks layer3.2.layer.1.convolution or conv2")


def test_a_convnext_costs_what_is_published():
    """ConvNeXt-T at 224: 4.5 G multiplications with additions (Liu et al. 2022, table 1: 4.5)."""
    t, last, side, macs = {}, 3, 224, 0
    for i, (depth, width) in enumerate(((3, 96), (3, 192), (9, 384), (3, 768))):
        kernel = 2 if i else 4
        side //= kernel
        conv(t, f"convnext.encoder.stages.{i}.downsampling_layer.1" if i else "convnext.embeddings.patch_embeddings", width, last, kernel)
        norm(t, f"convnext.encoder.stages.{i}.downsampling_layer.0" if i else "convnext.embeddings.layernorm", last if i else width)
        macs += side * side * width * last * kernel**2
        for k in range(depth):
            b = f"convnext.encoder.stages.{i}.layers.{k}."
            conv(t, b + "dwconv", width, 1, 7)
            norm(t, b + "layernorm", width)
            linear(t, b + "pwconv1", 4 * width, width)
            linear(t, b + "pwconv2", width, 4 * width)
            t[b + "layer_scale_parameter"] = [width]
            macs += side * side * width * (49 + 8 * width)
        last = width
    norm(t, "convnext.layernorm", last)
    linear(t, "classifier", 1000, last)
    size = save("x", {"model_type": "convnext", "image_size": 224}, t)
    said = situ_json("inspect", "x")
    flops = sum(row["flops"] for row in said["kinds"] if row["kind"] in ("Conv", "MatMul", "Gemm"))
    assert 0 <= flops - 2 * (macs + 768000) < 0.001 * flops, (flops, macs)  # biases of convolutions are counted
    assert abs(macs / 1e9 - 4.5) < 0.05, macs
    assert (said["total"]["weight_bytes"], said["unknown"]) == (size, [])


# ---- sound ----

def sound(width, norms):
    """An encoder of sound without its positions: tensors, and FLOPs of the convolutions that make 49 frames of a second."""
    t, last, n, work = {}, 1, 16000, 0
    for i, (kernel, stride) in enumerate(((10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2))):
        conv(t, f"feature_extractor.conv_layers.{i}.conv", 32, last, kernel, bias=False, sides=1)
        n = (n - kernel) // stride + 1
        work += n * 32 * 2 * last * kernel
        last = 32
    assert n == 49
    for i in range(norms):
        norm(t, f"feature_extractor.conv_layers.{i}.layer_norm", 32)
    norm(t, "feature_projection.layer_norm", 32)
    linear(t, "feature_projection.projection", width, 32)
    t["masked_spec_embed"] = [width]
    norm(t, "encoder.layer_norm", width)
    for i in range(2):
        block(t, f"encoder.layers.{i}.", ("attention.q_proj", "attention.k_proj", "attention.v_proj", "attention.out_proj", "feed_forward.intermediate_dense",
                                          "feed_forward.output_dense", "layer_norm", "final_layer_norm"), width, 4 * width)
    return t, work


def test_wav2vec_reads_frames_of_samples():
    """Seven convolutions of strides 5, 2, ... make 49 frames of a second, and their windows are 10, 3, 3, 3, 3, 2, 2."""
    width = 64
    t, work = sound(width, 1)
    t |= {"encoder.pos_conv_embed.conv.weight_v": [width, width // 16, 128], "encoder.pos_conv_embed.conv.weight_g": [1, 1, 128],
          "encoder.pos_conv_embed.conv.bias": [width]}
    size = save("a", {"model_type": "wav2vec2", "hidden_size": width, "num_attention_heads": 1, "conv_stride": [5, 2, 2, 2, 2, 2, 2]}, t)
    said, matrices, convolutions, attends = products("a", "--dim", "samples=16000")
    body, scores = by_transformer(2, width, 49)
    assert (matrices, attends) == (body + 2 * 49 * width * 32, scores), (matrices, attends)
    assert convolutions == work + 50 * width * (2 * width // 16 * 128 + 1), (convolutions, work)  # an even window makes one more, which is cut
    assert said["total"]["weight_bytes"] == size - 4 * width  # masks are for training
    assert [row["subject"] for row in situ_json("inspect", "a")["unknown"]] == ["samples"]


def test_positions_of_data2vec_are_several_convolutions():
    """Five in turn over 49 frames, of 19 places and 16 groups; the convolutions of samples have a norm each."""
    width = 64
    t, work = sound(width, 7)
    for i in range(5):
        t |= {f"encoder.pos_conv_embed.layers.{i}.conv.weight": [width, width // 16, 19], f"encoder.pos_conv_embed.layers.{i}.conv.bias": [width]}
    size = save("a", {"model_type": "data2vec-audio", "hidden_size": width, "num_attention_heads": 1, "conv_stride": [5, 2, 2, 2, 2, 2, 2]}, t)
    said, matrices, convolutions, attends = products("a", "--dim", "samples=16000")
    body, scores = by_transformer(2, width, 49)
    assert (matrices, attends) == (body + 2 * 49 * width * 32, scores), (matrices, attends)
    assert convolutions == work + 5 * 49 * width * (2 * width // 16 * 19 + 1), (convolutions, work)
    assert (said["total"]["weight_bytes"], said["unknown"]) == (size - 4 * width, [])


# ---- diffusion ----

def residual(t, b, out, n, time):
    norm(t, b + "norm1", n)
    norm(t, b + "norm2", out)
    conv(t, b + "conv1", out, n, 3)
    conv(t, b + "conv2", out, out, 3)
    if time:
        linear(t, b + "time_emb_proj", out, time)
    if out != n:
        conv(t, b + "conv_shortcut", out, n, 1)


def looks(t, b, width, text):
    norm(t, b + "norm", width)
    conv(t, b + "proj_in", width, width, 1)
    conv(t, b + "proj_out", width, width, 1)
    b += "transformer_blocks.0."
    for name, n in (("attn1", width), ("attn2", text)):
        linear(t, b + name + ".to_q", width, width, bias=False)
        linear(t, b + name + ".to_k", width, n, bias=False)
        linear(t, b + name + ".to_v", width, n, bias=False)
        linear(t, b + name + ".to_out.0", width, width)
    linear(t, b + "ff.net.0.proj", 8 * width, width)
    linear(t, b + "ff.net.2", width, 4 * width)
    for k in (1, 2, 3):
        norm(t, b + f"norm{k}", width)


def unet(widths=(320, 640, 1280, 1280), text=768):
    """That of Stable Diffusion 1.5: two residual parts a stage down, three up; all but the lowest stage attend."""
    t, time, skips, last = {}, 4 * widths[0], [widths[0]], widths[0]
    linear(t, "time_embedding.linear_1", time, widths[0])
    linear(t, "time_embedding.linear_2", time, time)
    conv(t, "conv_in", widths[0], 4, 3)
    n = len(widths)
    for i, width in enumerate(widths):
        for k in range(2):
            residual(t, f"down_blocks.{i}.resnets.{k}.", width, last, time)
            if i < n - 1:
                looks(t, f"down_blocks.{i}.attentions.{k}.", width, text)
            last = width
            skips.append(width)
        if i < n - 1:
            conv(t, f"down_blocks.{i}.downsamplers.0.conv", width, width, 3)
            skips.append(width)
    for k in range(2):
        residual(t, f"mid_block.resnets.{k}.", last, last, time)
    looks(t, "mid_block.attentions.0.", last, text)
    for i, width in enumerate(reversed(widths)):
        for k in range(3):
            residual(t, f"up_blocks.{i}.resnets.{k}.", width, last + skips.pop(), time)
            if i > 0:
                looks(t, f"up_blocks.{i}.attentions.{k}.", width, text)
            last = width
        if i < n - 1:
            conv(t, f"up_blocks.{i}.upsamplers.0.conv", width, width, 3)
    norm(t, "conv_norm_out", last)
    conv(t, "conv_out", 4, last, 3)
    return t, {"_class_name": "UNet2DConditionModel", "sample_size": 64, "cross_attention_dim": text, "attention_head_dim": 8, "norm_num_groups": 32}


def test_a_unet_costs_what_is_published():
    """Of Stable Diffusion 1.5 at 64 x 64: 859.5 M parameters, and some 800 G FLOPs a step (PyTorch counts 803.3 without biases)."""
    tensors, config = unet()
    size = save("u", config, tensors, "F16")
    assert round(size / 2e6, 1) == 859.5, size
    said, matrices, convolutions, attends = products("u")
    assert (said["total"]["weight_bytes"], said["unknown"]) == (size, [])
    # Attention by itself: to n places and to 77 words, at 64, 32, 16 and 8 places a side, 8 heads.
    scores = sum(count * (attention(8, width // 8, side**2, side**2) + attention(8, width // 8, side**2, 77))
                 for count, width, side in ((5, 320, 64), (5, 640, 32), (5, 1280, 16), (1, 1280, 8)))
    assert attends == scores, (attends, scores)
    plain = sum(count * (side**4 + side**2 * 77) * 4 * width for count, width, side in ((5, 320, 64), (5, 640, 32), (5, 1280, 16), (1, 1280, 8)))
    assert abs((matrices + convolutions + plain) / 1e9 - 803.3) < 0.1, (matrices, convolutions, plain)
    wider = products("u", "--dim", "height=128", "--dim", "width=128", "--dim", "tokens=154")[3]
    assert wider > 15 * attends


# Iterations a second of Stable Diffusion 1.5 at 512 x 512 with guidance, for 1, 4 and 16 pictures: torch 2.0 as it is, and the
# better of two compiled versions (documentation of diffusers 0.20, "PyTorch 2.0").
PUBLISHED = {"rtx3090": ((22.84, 25.69), (6.46, 7.3), (1.7, 1.93)), "rtx4090": ((41.89, 49.81), (12.84, 15.59), (3.2, 3.85)),
             "a100-80g": ((None, 49.74), (13.12, 17.27), (3.6, 4.68)), "v100-16g": ((19.14, 22.17), (5.96, 6.86), (1.66, 1.92))}


def test_a_step_of_diffusion_takes_as_long_as_published():
    """Within 40 % either way, whatever runs it; one picture at a time on an A100 waits for the host of that machine."""
    tensors, config = unet()
    save("u", config, tensors, "F16")
    for gpu, rows in PUBLISHED.items():
        for pictures, rates in zip((1, 4, 16), rows):
            for engine, rate in zip((["--cost-engine", "pytorch"], []), rates):
                if rate is None or (SHARE < 100 and pictures != 4):
                    continue
                said = situ_json("inspect", "u", "--platform", gpu, "--batch", str(2 * pictures), *engine)
                ratio = sum(row["time_ns"] for row in said["kinds"]) * rate / 1e9
                assert 1 / 1.4 < ratio < 1.4, (gpu, pictures, engine, ratio)


def test_a_transformer_of_diffusion_reads_picture_and_text_together():
    """Flux in small: a block with matrices of its own for the text, one for both; heads of 32."""
    width, text, wide = 64, 48, 256
    t = {}
    for name, n in (("timestep_embedder", 256), ("guidance_embedder", 256), ("text_embedder", 24)):
        linear(t, f"time_text_embed.{name}.linear_1", width, n)
        linear(t, f"time_text_embed.{name}.linear_2", width, width)
    linear(t, "context_embedder", width, text)
    linear(t, "x_embedder", width, 16)
    for side, q, out, feed in (("", "to_{}", "to_out.0", "ff"), ("_context", "add_{}_proj", "to_add_out", "ff_context")):
        linear(t, f"transformer_blocks.0.norm1{side}.linear", 6 * width, width)
        for m in "qkv":
            linear(t, "transformer_blocks.0.attn." + q.format(m), width, width)
        linear(t, "transformer_blocks.0.attn." + out, width, width)
        linear(t, f"transformer_blocks.0.{feed}.net.0.proj", wide, width)
        linear(t, f"transformer_blocks.0.{feed}.net.2", width, wide)
    for name in ("norm_q", "norm_k", "norm_added_q", "norm_added_k"):
        t[f"transformer_blocks.0.attn.{name}.weight"] = [32]
    s = "single_transformer_blocks.0."
    for m in "qkv":
        linear(t, s + f"attn.to_{m}", width, width)
    t |= {s + "attn.norm_q.weight": [32], s + "attn.norm_k.weight": [32]}
    linear(t, s + "norm.linear", 3 * width, width)
    linear(t, s + "proj_mlp", wide, width)
    linear(t, s + "proj_out", width, width + wide)
    linear(t, "norm_out.linear", 2 * width, width)
    linear(t, "proj_out", 16, width)
    size = save("f", {"_class_name": "FluxTransformer2DModel", "num_attention_heads": 2, "attention_head_dim": 32}, t, "BF16")
    said, matrices, _, attends = products("f", "--dim", "patches=100", "--dim", "tokens=10")
    once = 2 * width * (256 + 256 + 24) + 3 * 2 * width * width + 2 * width * width * (6 + 6 + 3 + 2)
    each = 2 * width * (4 * width + 2 * wide)
    once += 6 * width  # the biases of products with one row are part of them
    want = once + 2 * width * (100 * 16 * 2 + 10 * text) + 110 * each + 110 * each
    assert matrices == want, (matrices, want)
    assert attends == 2 * attention(2, 32, 110, 110), attends
    assert (said["total"]["weight_bytes"], said["unknown"]) == (size, [])
    assert {row["subject"] for row in situ_json("inspect", "f")["unknown"]} == {"patches", "tokens"}
    assert said["model"] == "f", said["model"]


# ---- what is refused, and what is guessed ----

def pipeline(folder, **more):
    """Three transformers over patches: a part of a pipeline is what its name and class in the index say."""
    pathlib.Path(folder).mkdir(exist_ok=True)
    parts = {"text_encoder": ["transformers", "CLIPTextModel"], "unet": ["diffusers", "UNet2DConditionModel"],
             "vae": ["diffusers", "AutoencoderKL"], "scheduler": ["diffusers", "DDIMScheduler"], "tokenizer": ["transformers", "CLIPTokenizer"],
             "safety_checker": [None, None], **more}
    index = {"_class_name": "StableDiffusionPipeline", "_diffusers_version": "0.35.0", **parts}
    (pathlib.Path(folder) / "model_index.json").write_text(json.dumps(index))
    for part, layers in (("text_encoder", 2), ("unet", 4), ("vae", 3)):
        tensors, config = vit(layers=layers)
        save(f"{folder}/{part}", config, tensors)
    return folder


def test_a_pipeline_of_networks_is_one_model_whose_steps_repeat():
    path = pipeline("pipe")
    one = {part: products(f"{path}/{part}") for part in ("text_encoder", "unet", "vae")}
    for steps, given in ((20, []), (3, ["--dim", "steps=3"])):
        said = products(path, *given)
        for k in (1, 2, 3):  # products, convolutions, attention
            assert said[k] == one["text_encoder"][k] + steps * one["unet"][k] + one["vae"][k], (steps, k)
        assert said[0]["total"]["weight_bytes"] == sum(v[0]["total"]["weight_bytes"] for v in one.values())
    plan = situ_json("place", path, "--platform", "cpu+2*rtx3060(0.15GB)", "--steps", "100", "-o", "p.json")
    where = {}
    for name, device in plan["placement"].items():
        where.setdefault(name.split(".")[0], set()).add(device)
    assert set(where) == {"text_encoder", "unet", "vae"} and all(len(v) == 1 for v in where.values()), where
    situ("check", "p.json")
    for writer in ("device-map", "llama.cpp", "vllm"):
        situ("place", path, "--platform", "cpu+rtx3060", "--steps", "10", "--write", f"{writer}=out", code=6, err="is a pipeline of several networks")
    sized = products(path, "--dim", "unet.height=448")
    assert sized[2] > products(path)[2]
    situ("inspect", path, "--dim", "height=448", code=2, err="as in vae.height=64")
    situ("inspect", path, "--training", code=3, err="is a pipeline")
    pathlib.Path(path, "unet", "model.safetensors").unlink()
    situ("inspect", path, code=3, err="unet")
    index = pathlib.Path(path, "model_index.json")
    index.write_text('{"_class_name": "X", "_diffusers_version": "0", "scheduler": ["diffusers", "DDIMScheduler"]}')
    situ("inspect", path, code=3, err="names no network")
    for name in (".", "..", ""):
        index.write_text(json.dumps({name: ["d", "UNet"]}))
        situ("inspect", path, code=3, err="names no network")
    index.write_text('{"unet": ["d", "UNet"]}')
    shutil.rmtree(pathlib.Path(path, "unet"))
    pathlib.Path(path, "unet").symlink_to(".")
    situ("inspect", path, code=3, err="a pipeline within a pipeline")


def test_what_is_no_member_of_its_family_is_refused():
    for change, message in (({"vit.encoder.layer.3.adapter.weight": [768, 768]}, "weights without a role: vit.encoder.layer.3.adapter"),
                            ({"vit.encoder.layer.20.output.dense.weight": [768, 3072]}, "without a role: vit.encoder.layer.20"),
                            ({"vit.embeddings.patch_embeddings.projection.weight": [768, 3]}, "it lacks vit.embeddings.patch_embeddings.projection"),
                            ({"vit.encoder.layer.2.attention.attention.key.weight": [768, 512]}, "vit.encoder.layer.2.attention.attention.key"),
                            ({"vit.embeddings.position_embeddings": [1, 197, 512]}, "position_embeddings"),
                            ({"vit.encoder.layer.1.output.dense.weight": [64, 3072]}, "vit.encoder.layer.1"),
                            ({"vit.layernorm.weight": [4, 4]}, "it lacks vit.layernorm")):
        tensors, config = vit()
        save("v", config, tensors | change)
        situ("inspect", "v", code=3, err="is no network that situ knows .architecture vit.: as a transformer over the patches.*" + message)
    tensors, config = vit()
    save("v", config | {"num_attention_heads": 7}, tensors)
    situ("inspect", "v", code=3, err="7 heads of attention for a width of 768")
    del tensors["vit.encoder.layer.5.intermediate.dense.weight"]
    save("v", config, tensors)
    situ("inspect", "v", code=3, err="it lacks vit.encoder.layer.5.")
    situ("place", "v", "--platform", "cpu+rtx3090", code=3)


def test_a_network_of_another_name_that_looks_like_one_is_guessed():
    tensors, config = vit()
    save("v", config | {"model_type": "my-vit"}, tensors)
    said = situ_json("inspect", "v")
    assert [(row["kind"], row["subject"], row["share"]) for row in said["unknown"]] == [("structure", "order of modules", 1)], said["unknown"]
    assert said["guessed"] is True
    situ("inspect", "v", "--strict", code=9, err="order of modules")
    for name, shape in (("vit.encoder.layer.3.adapter.weight", [768, 768]), ("neck.weight", [768, 768, 3, 3])):
        save("v", config | {"model_type": "my-vit"}, tensors | {name: shape})
        situ("inspect", "v", code=3, err="architecture my-vit")


def test_other_architectures_are_refused_by_name():
    for model_type, tensors in (("mobilevit", {"conv_stem.convolution.weight": [16, 3, 3, 3]}), ("efficientnet_b0", {"blocks.0.0.conv_dw.weight": [32, 1, 3, 3]})):
        save("o", {"model_type": model_type}, tensors)
        situ("inspect", "o", code=3, err=model_type)


if __name__ == "__main__":
    sys.exit(main(globals()))
