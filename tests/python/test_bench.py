"""Solvers and costs of one's own, judged by the library with equal budgets; the standard workloads; pictures."""

import itertools
import math
import subprocess
import sys

import pytest

import situ
import situ.bench

US = 1000


def diamond(**options):
    """The network and the machine of docs/worked-examples.md."""
    graph = situ.Graph("diamond")
    for name in "abcd":
        graph.add_operator(name, flops=1)
    graph.add_tensor("a", 2000, ["b", "c"])
    graph.connect("b", "d", 1000)
    graph.connect("c", "d", 1000)
    machine = situ.Platform("pair")
    about = {"memory_gb": 1, "memory_gb_per_s": 1, "peak_tflops": {"f32": 1}}
    machine.add_device("host", class_name="host", host=True, **about)
    machine.add_device("acc", class_name="acc", **about)
    machine.add_link("host", "acc", latency_us=1, gb_per_s=1)
    times = {"a": (2, 3), "b": (20, 5), "c": (3, 6), "d": (1, 2)}

    def costs(operator, device):
        return times[operator.name][device.class_name == "acc"] * US

    return situ.Problem(graph, machine, costs=costs, **options)


def every(search):
    """All placements."""
    problem = search.problem
    for devices in itertools.product([d.name for d in problem.devices], repeat=len(problem.operators)):
        search.value_ns(dict(zip(problem.operators, devices)))


def drawn(search):
    """Placements by the search's own random numbers, until the budget ends; units stay together."""
    names = [d.name for d in search.problem.devices]
    while True:
        places = [(unit, search.random.choice(names)) for unit in search.problem.units]
        search.value_ns({name: device for unit, device in places for name in unit})


def test_a_problem_tells_times_transfers_and_units():
    problem = diamond()
    assert problem.operators == ["a", "b", "c", "d"] and problem.units == [["a"], ["b"], ["c"], ["d"]]
    assert problem.time_ns("b", "host") == 20 * US and problem.time_ns("b", "acc") == 5 * US
    assert problem.transfer_ns(0, "host", "acc") == 3 * US  # 1 us, and 2000 bytes at 1 GB/s
    assert problem.transfer_ns(0, "acc", "acc") == 0


@pytest.mark.parametrize(
    "options, microseconds",
    [
        ({}, 11),
        ({"execution": "calls"}, 13),
        ({"objective": "throughput"}, 7),
        ({"objective": "throughput", "free": True}, 6),
    ],
)
def test_a_solver_that_tries_all_finds_the_optimum_that_is_worked_out_by_hand(options, microseconds):
    problem = diamond(**options)
    plan = situ.bench.solve(problem, every)
    assert plan.value_ns == microseconds * US and plan.check()
    assert problem.solve().value_ns == plan.value_ns


def test_a_placement_that_breaks_a_rule_is_worth_nothing():
    problem = diamond(objective="throughput")
    back_and_forth = {"a": "host", "b": "acc", "c": "host", "d": "host"}  # not contiguous: to the accelerator and back
    assert problem.value_ns(back_and_forth) is None
    assert not problem.evaluate(back_and_forth).check()
    assert situ.bench.solve(problem, lambda search: back_and_forth) is None


def test_the_order_on_a_device_is_the_solvers():
    """All on the host: a, then c, then b, then d take 2 + 3 + 20 + 1 = 26 us in either order."""
    problem = diamond()
    host = dict.fromkeys("abcd", "host")
    assert problem.value_ns(host, ["a", "c", "b", "d"]) == problem.value_ns(host) == 26 * US
    with pytest.raises(situ.BadArgument):
        problem.value_ns(host, ["d", "c", "b"])


def test_placements_that_name_no_device_are_refused():
    problem = diamond()
    with pytest.raises(situ.BadArgument, match="b"):
        problem.value_ns({"a": "host"})
    with pytest.raises(situ.BadArgument, match="gpu7"):
        problem.value_ns(dict.fromkeys("abcd", "gpu7"))


def test_what_is_wrong_with_a_placement_is_said():
    problem = diamond()
    alone = dict.fromkeys("abcd", "host")
    for placement, order, message in (({"a": "host"}, None, "has no device for the operator 'b'"),
                                   ({**alone, "c": "gpu0"}, None, "'c' is placed on 'gpu0'; the devices are host, acc"),
                                   ({**alone, "c": ["acc"]}, None, "the devices are host, acc"),
                                   ("host", None, "it is of type str"), (7, None, "it is of type int"),
                                   (alone, "abcx", "the order names 'x', not an operator")):
        with pytest.raises(situ.BadArgument, match=message):
            problem.evaluate(placement, order)
    assert repr(problem) == "<situ.Problem: 4 operators on host, acc>"


def test_one_solver_and_one_workload_may_be_names_alone():
    rows = situ.bench.run("heft", "inception-v3/latency", steps=5, seeds=1)
    assert [(row["solver"], row["instance"]) for row in rows] == [("heft", "inception-v3/latency")]


def test_kernels_that_costs_fuse_are_one_unit():
    problem = situ.Problem("builtin:resnet50", "cpu+v100-16g")
    assert sorted(itertools.chain(*problem.units)) == sorted(problem.operators)
    assert len(problem.units) < len(problem.operators)
    parted = dict.fromkeys(problem.operators, "gpu0")
    assert problem.value_ns(parted) is not None
    kernel = next(unit for unit in problem.units if len(unit) > 1)
    parted[kernel[-1]] = "cpu"
    assert problem.value_ns(parted) is None


def test_a_solver_gets_the_steps_of_its_budget_and_no_more():
    asked = []

    def greedy_for_steps(search):
        for step in range(1000):
            asked.append(step)
            search.value_ns(dict.fromkeys("abcd", "acc"))

    results = situ.bench.run({"mine": greedy_for_steps}, {"diamond": diamond()}, steps=7, seeds=1)
    assert len(asked) == 8 and results[0]["steps"] == 7  # the eighth question ends it
    assert results[0]["value_ns"] == 16 * US  # all on the accelerator: 3 + 5 + 6 + 2


def test_what_a_placement_is_worth_is_what_place_says_of_it_as_pins():
    hypothesis = pytest.importorskip("hypothesis", reason="hypothesis is absent")
    from hypothesis import strategies as st

    problem = diamond()
    machine = problem._instance.folder.made

    @hypothesis.given(st.lists(st.sampled_from(["host", "acc"]), min_size=4, max_size=4))
    @hypothesis.settings(max_examples=16, deadline=None)
    def holds(devices):
        placement = dict(zip("abcd", devices))
        pinned = situ.place(
            problem.graph, machine["platform"], cost_table=machine["costs"], fix=placement, tolerance=0, min_gain=0
        )
        assert problem.value_ns(placement) == pinned.value_ns and pinned.solver == "fix"

    holds()


def test_a_time_limit_ends_a_solver():
    (row,) = situ.bench.run({"mine": drawn}, {"diamond": diamond()}, time_limit=0.05, seeds=1)
    assert 0.05 <= row["seconds"] < 5 and row["steps"] > 0


def test_rows_have_gaps_to_the_best_bound_and_ratios_to_the_best_value():
    results = situ.bench.run(
        {"every": every, "on acc": lambda s: dict.fromkeys("abcd", "acc"), "auto": "auto", "none": lambda s: None},
        {"diamond": diamond()},
        steps=100,
        seeds=2,
    )
    rows = {row["solver"]: row for row in results}
    assert len(results) == 8 and {row["seed"] for row in results} == {0, 1}
    assert rows["every"]["value_ns"] == rows["auto"]["value_ns"] == rows["every"]["bound_ns"] == 11 * US
    assert rows["every"]["gap"] == 0 and rows["on acc"]["gap"] == pytest.approx(5 / 16)
    assert rows["on acc"]["to_best"] == pytest.approx(16 / 11) and rows["on acc"]["best_single_ns"] == 16 * US
    assert rows["none"]["value_ns"] is None and rows["none"]["gap"] is None
    summary = {row["solver"]: row for row in results.summary()}
    assert summary["none"]["failed"] == 2 and summary["on acc"]["to_best"] == pytest.approx(16 / 11)
    assert "on acc" in str(results) and "45" in str(results)  # 16 / 11 = 1.4545


def test_seeds_repeat_and_differ():
    problem = situ.Problem(**situ.bench.STANDARD["inception-v3/latency"])
    first, again = (situ.bench.run({"drawn": drawn}, {"one": problem}, steps=20, seeds=3) for _ in range(2))
    assert [row["value_ns"] for row in first] == [row["value_ns"] for row in again]
    assert len({row["value_ns"] for row in first}) == 3


def test_solvers_of_situ_that_do_not_serve_an_instance_have_no_rows():
    results = situ.bench.run(["heft", "single"], ["resnet50/throughput"], steps=10, seeds=1)
    assert [row["solver"] for row in results] == ["single"]
    with pytest.raises(situ.BadArgument, match="nosuch"):
        situ.bench.run(["nosuch"], ["resnet50/throughput"], steps=10, seeds=1)
    with pytest.raises(situ.BadArgument, match="resnet50/latency"):
        situ.bench.run(["single"], ["nosuch"], steps=10, seeds=1)


def test_every_standard_workload_is_solved():
    results = situ.bench.run(["auto"], steps=30, seeds=1)
    assert {row["instance"] for row in results} == set(situ.bench.STANDARD)
    for row in results:
        assert row["bound_ns"] <= row["value_ns"] <= (row["best_single_ns"] or math.inf), row


def test_what_a_solver_raises_comes_out():
    with pytest.raises(ZeroDivisionError):
        situ.bench.solve(diamond(), lambda search: 1 / 0)


def test_results_are_data_frames_and_plots():
    results = situ.bench.run({"every": every, "none": lambda s: None}, {"diamond": diamond()}, steps=100, seeds=2)
    pandas = pytest.importorskip("pandas", reason="pandas is absent")
    frame = results.to_frame()
    assert (
        isinstance(frame, pandas.DataFrame)
        and len(frame) == 4
        and list(frame["solver"]) == ["every"] * 2 + ["none"] * 2
    )
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is absent")
    matplotlib.use("Agg")
    for what in ("gap", "seconds"):
        axes = results.plot(what)
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["every", "none"]
        assert [text.get_text() for text in axes.get_xticklabels()] == ["diamond"]
    with pytest.raises(situ.BadArgument, match="gap or seconds"):
        results.plot("value")


def test_a_picture_is_a_png_where_resvg_is_there(tmp_path):
    pytest.importorskip("resvg_py", reason="resvg-py is absent")
    plan = situ.place("builtin:resnet50", "cpu+v100-16g", steps=20)
    made = plan.png(tmp_path / "plan.png", zoom=1)
    assert (tmp_path / "plan.png").read_bytes() == made and made.startswith(b"\x89PNG\r\n\x1a\n")
    width = int(plan.svg().split('width="')[1].split('"')[0])
    assert int.from_bytes(made[16:20], "big") == width  # IHDR begins with the width
    assert int.from_bytes(plan.png()[16:20], "big") == 2 * width


def test_without_resvg_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['resvg_py'] = None; import situ\n"
        "try: situ.place('builtin:resnet50', 'cpu', steps=1).png()\n"
        "except situ.Unsupported as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install resvg-py" in done.stdout
