"""PyTorch measured: costs of operators, plans beside their predictions, devices that work at the same time."""
import json
import time

import pytest

torch = pytest.importorskip("torch", reason="torch is absent")

import situ  # noqa: E402
import situ.torch  # noqa: E402
from torch import nn  # noqa: E402

MACHINE = "2*cpu"


@torch.library.custom_op("situ_test::nap", mutates_args=())
def nap(x: torch.Tensor) -> torch.Tensor:
    """Sleeps 0.2 s, in which it needs no core."""
    time.sleep(0.2)
    return x.clone()


@nap.register_fake
def _(x):
    return torch.empty_like(x)


fuse = []  # one item for each call of `burn`; the last one fails


@torch.library.custom_op("situ_test::burn", mutates_args=())
def burn(x: torch.Tensor) -> torch.Tensor:
    if not fuse:
        raise RuntimeError("burnt out")
    fuse.pop()
    return x.clone()


@burn.register_fake
def _(x):
    return torch.empty_like(x)


class Burns(nn.Module):
    def forward(self, x):
        return torch.relu(burn(x * 2) + 1)


class Naps(nn.Module):
    """Two branches that do not wait for each other."""

    def forward(self, x):
        return nap(x) + nap(x * 2)


class Lookup(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(10, 8), nn.Linear(8, 4)

    def forward(self, tokens):
        return self.out(self.table(tokens))


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 8), nn.Tanh(), nn.Linear(8, 8)).eval()


INPUTS = (torch.ones(64, 256),)


@pytest.fixture(scope="module")
def profile():
    return situ.torch.profile(network(), INPUTS, repeats=5)


def test_times_of_operators_sum_to_that_of_the_whole(profile):
    times = profile["operators"]
    assert set(times) == set(profile.graph.operators) and all(t["cpu"] > 0 for t in times.values())
    assert abs(sum(t["cpu"] for t in times.values()) - profile.whole_ns["cpu"]) <= len(times)  # each is rounded
    # 2 x 64 x 256 x 256 = 8.4 M operations against 2 x 64 x 8 x 8 = 8192
    names = [op.name for op in profile.graph if op.kind == "MatMul"]
    assert times[names[0]]["cpu"] > times[names[2]]["cpu"]
    assert all(0 <= spread["cpu"] for spread in profile.spread.values())
    assert names[0] in str(profile) and torch.__version__ in profile["source"]


def test_a_plan_of_one_device_is_predicted_to_take_what_the_whole_took(profile):
    plan = situ.place(profile.graph, MACHINE, costs=profile, fix=dict.fromkeys(profile.graph.operators, "cpu0"))
    assert abs(plan.value_ns - profile.whole_ns["cpu"]) <= len(profile.graph)
    with_links = situ.place(profile.graph, MACHINE, costs=profile, fix={op.name: "cpu1" if op.kind == "Tanh" else "cpu0" for op in profile.graph})
    (link,) = profile["links"]
    # two hand-overs of 64 x 8 floats
    there_and_back = 2 * (link["latency"] + 64 * 8 * 4 * 1e9 / link["bytes_per_s"])
    assert with_links.value_ns - plan.value_ns == pytest.approx(there_and_back, abs=len(profile.graph) + 4)


def test_a_saved_profile_is_a_cost_table_of_the_tool(profile, tmp_path):
    profile.save(tmp_path / "costs.json")
    assert json.loads((tmp_path / "costs.json").read_text()) == profile
    placements = [situ.place(profile.graph, MACHINE, **costs) for costs in ({"costs": profile}, {"cost_table": tmp_path / "costs.json"})]
    assert placements[0].value_ns == placements[1].value_ns


def test_a_cost_table_of_situ_is_taken_as_it_is():
    graph = situ.torch.graph(network(), INPUTS)
    estimate = situ.place(graph, MACHINE)
    assert situ.place(graph, MACHINE, costs=situ.costs(graph, MACHINE)).value_ns == estimate.value_ns


def test_profiles_and_runs_are_tables(profile):
    pytest.importorskip("pandas", reason="pandas is absent")
    assert list(profile.to_frame().columns) == ["kind", "layer", "cpu_ns", "cpu_spread"]
    assert profile.to_frame()["cpu_ns"].sum() == sum(t["cpu"] for t in profile["operators"].values())
    plan = situ.place(profile.graph, MACHINE, costs=profile)
    assert list(plan.measure(repeats=3).to_frame().columns) == ["device", "predicted_ns", "measured_ns"]


@pytest.mark.parametrize("objective", ["latency", "throughput"])
def test_a_plan_is_measured_beside_its_prediction(profile, objective):
    names = list(profile.graph.operators)
    fix = {name: "cpu0" if i < 2 else "cpu1" for i, name in enumerate(names)}
    plan = situ.place(profile.graph, MACHINE, costs=profile, fix=fix, objective=objective)
    threads = torch.get_num_threads()
    found = situ.torch.measure(plan, repeats=4)
    assert torch.get_num_threads() == threads
    assert found["difference"] == 0 and len(found["handovers"]) == plan.n_handovers == 1
    assert found["predicted_ns"] == plan.value_ns and found["error"] == found["measured_ns"] / plan.value_ns - 1
    assert {d["device"]: d["operators"] for d in found["devices"]} == {"cpu0": 2, "cpu1": len(names) - 2}
    costs = {name: times["cpu"] for name, times in profile["operators"].items()}
    assert {o["operator"]: o["predicted_ns"] for o in found["operators"]} == costs
    assert {d["device"]: d["predicted_ns"] for d in found["devices"]} == {
        device: sum(costs[name] for name in names if fix[name] == device) for device in ("cpu0", "cpu1")}
    assert all(o["measured_ns"] > 0 for o in found["operators"]) and all(d["measured_ns"] > 0 for d in found["devices"])
    assert found["execution"] == ("stream" if objective == "latency" else "pipeline")
    assert ("period" in str(found)) == (objective == "throughput") and "cpu1" in str(found)


def test_devices_work_at_the_same_time():
    x = (torch.ones(2),)
    graph = situ.torch.graph(Naps(), x)
    first, second = [op.name for op in graph if op.kind == "nap"]
    taken = {}
    for other in ("cpu0", "cpu1"):
        plan = situ.place(graph, MACHINE, fix={op.name: other if op.name == second else "cpu0" for op in graph})
        runner = situ.torch.Runner(plan, {"cpu0": "cpu", "cpu1": "cpu"})
        begun = time.perf_counter()
        torch.testing.assert_close(runner(*x), torch.full((2,), 3.0))  # 1 + 2 x 1
        taken[other] = time.perf_counter() - begun
    assert taken["cpu0"] >= 0.4 and 0.2 <= taken["cpu1"] < 0.39  # 0.2 + 0.2 s; both at once


def test_a_device_that_fails_ends_the_run_with_its_error_and_the_next_one_works():
    module, good = Lookup().eval(), torch.tensor([1, 2])
    graph = situ.torch.graph(module, (good,))
    for failing in ("cpu0", "cpu1"):
        plan = situ.place(graph, MACHINE, fix={op.name: failing if op.kind == "Gather" else {"cpu0": "cpu1", "cpu1": "cpu0"}[failing] for op in graph})
        runner = situ.torch.Runner(plan)
        for _ in range(2):
            with pytest.raises(IndexError, match="out of range"):
                runner(torch.tensor([1, 20]))
            torch.testing.assert_close(runner(good), module(good).detach())


def test_a_failure_with_inputs_under_way_ends_the_measuring():
    """4 inputs one by one; the 30 of the pipeline fail at the third, when others are on their way."""
    graph = situ.torch.graph(Burns(), (torch.ones(4),))
    for n in (1, 2):  # operators of the first device: without and with the one that fails
        fix = {name: "cpu0" if i < n else "cpu1" for i, name in enumerate(graph.operators)}
        plan = situ.place(graph, MACHINE, fix=fix, objective="throughput")
        fuse[:] = [None] * (2 * 4 + 2)  # the whole and the parts, then two inputs
        with pytest.raises(RuntimeError, match="burnt out"):
            plan.measure(repeats=3, warm_up=1)
        assert not fuse


def test_what_cannot_be_measured_is_said(profile):
    with torch.device("meta"):
        empty = nn.Linear(4, 4)
        with pytest.raises(situ.BadArgument, match="meta"):
            situ.torch.profile(empty, (torch.empty(1, 4),))
    plan = situ.place(profile.graph, "cpu+2*v100-16g", fix=dict.fromkeys(profile.graph.operators, "gpu1"))
    if torch.cuda.device_count() < 2:
        with pytest.raises(situ.BadArgument, match="no cuda:1"):
            plan.measure()
    assert plan.measure(devices={"gpu1": "cpu"}, repeats=3)["devices"][0]["torch"] == "cpu"


def test_costs_of_two_classes_come_with_the_links_between_them():
    found = situ.torch.profile(network(), INPUTS, {"cpu": "cpu", "v100-16g": "cpu"}, repeats=3)
    assert {(link["from"], link["to"]) for link in found["links"]} == {(a, b) for a in ("cpu", "v100-16g") for b in ("cpu", "v100-16g")}
    assert all(link["latency"] > 0 and link["bytes_per_s"] > 0 for link in found["links"])
    assert situ.place(found.graph, "cpu+2*v100-16g", costs=found).check()
