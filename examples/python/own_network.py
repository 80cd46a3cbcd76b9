"""A network and a machine of one's own, costs from a function, and the plan as a table. Run it after `pip install .`"""

from __future__ import annotations

import situ

graph = situ.Graph("two towers")
for tower in ("left", "right"):
    before = None
    for i in range(4):
        now = graph.add_operator(f"{tower}{i}", kind="MatMul", layer=f"{tower}", dtype="f16", flops=40_000_000_000)
        if before:
            graph.add_tensor(before, shape=(64, 4096), dtype="f16", consumers=[now])
        before = now
join = graph.add_operator("join", kind="Add", dtype="f16")
for tower in ("left", "right"):
    graph.add_tensor(f"{tower}3", shape=(64, 4096), dtype="f16", consumers=[join])

machine = situ.Platform("workstation")
machine.add_device("cpu", base="cpu")
machine.add_device("gpu", base="rtx4090-24g", count=2)
machine.add_link("cpu", "gpu", kind="pcie4")


def measured(operator: situ.Operator, device: situ.Device) -> float | None:
    """Nanoseconds as they were measured; None keeps the estimate."""
    return 350_000 if operator.kind == "MatMul" and device.class_name != "cpu" else None


plan = situ.place(graph, machine, costs=measured, time_limit=2)
print(plan)
print(plan.explain(what_if=True))
assert plan.check()
for operator, device in plan.placement.items():
    print(f"{operator:8} {device}")
