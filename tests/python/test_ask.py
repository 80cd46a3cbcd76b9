"""Questions that take several plans: fit, serve, size and judge."""
import pathlib
import sys

import pytest

import situ

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import llm_files

TWO = "2*rtx3090-24g"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.gguf"
    llm_files.write(str(path), *llm_files.MODELS["llama-2-13b-q8_0"], with_data=False)
    return path


def test_the_longest_context_fits_and_the_next_does_not(model):
    found = situ.fit(model, "rtx4090-24g", max=65536, steps=100)
    assert found["proved"] and "answer" in str(found)
    assert situ.place(model, "rtx4090-24g", context=found["answer"], steps=100)
    assert situ.place(model, "rtx4090-24g", context=found["answer"] + 256, steps=100).outcome == "infeasible"
    assert situ.fit(model, TWO, what="batch", max=2, context=512, steps=100)["answer"] == 2


def test_copies_serve_as_many_as_there_are(model):
    rows = situ.serve(model, TWO, streams=2, context=512, tensor_parallel="1", steps=100)["rows"]
    alone = situ.place(model, "rtx3090-24g", batch=2, context=512, steps=100).to_dict()
    both = next(row for row in rows if row["streams"] == 4)
    assert both["copies"] == 2 and both["tokens_per_second"] == pytest.approx(2 * alone["tokens_per_second"])


def test_prompts_and_decoding_are_on_different_devices(model):
    found = situ.disaggregate(model, TWO, streams=1, prompt=512, generate=16, tensor_parallel="1", steps=100)
    assert {(row["prefill_devices"], row["decode_devices"]) for row in found["rows"]} == {("gpu0", "gpu1")}
    prompt = situ.place(model, "rtx3090-24g", prompt=512, steps=100).value_ns
    assert found["rows"][0]["prefill_ns"] == prompt and "together" in str(found)


def test_a_command_is_judged_by_its_own_placement(model):
    found = situ.judge(f"llama-server -m {model} -ts 1,1 -ngl 99 -c 4096", platform=TWO, steps=100)
    assert found["runs"] and found["format"] == "llama.cpp" and len(found["rows"]) == 2
    assert found["rows"][1]["value_ns"] <= found["rows"][0]["value_ns"]


def test_the_smallest_platform_of_a_list(model):
    found = situ.size(model, "tokens/s>=20", among=f"rtx3060-12g,{TWO}", steps=100)
    assert found["answer"] == TWO and len(found["rows"]) == 2


@pytest.mark.parametrize("asked, said", [
    (lambda: situ.fit("builtin:vgg16", "cpu"), "no language model"), (lambda: situ.fit("x", what="length"), "what is"),
    (lambda: situ.judge("rm -rf"), "none of the formats"), (lambda: situ.size("builtin:vgg16", "soon"), "goal")])
def test_what_cannot_be_answered_says_why(asked, said):
    with pytest.raises(situ.BadArgument, match=said):
        asked()
