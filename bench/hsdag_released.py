#!/usr/bin/env python3
"""The released code of HSDAG on situ's rewards, as CSV.

    hsdag_released.py CLONE CSV [--data FOLDER] [--library FILE] [--seeds N] [MODEL...]

CLONE is a clone of github.com/hping666/HSDAG (ours was commit 9d5caf7); python3 needs torch, numpy and networkx. Its xml2graph,
merge_operations, merge_nodes, EmbeddingModel, PPO and train run as they are, 25 episodes of 20 trials; only sim_runtime is replaced, by the
simulator of situ. PyTorch Geometric, torch-scatter and torch-sparse, which no longer build against a current PyTorch, are stood in for by
the functions below; what is imported but not used is empty. Models, unless given: three built-in ones, and OpenVINO IR files of FOLDER
where it is given. A built-in network has a node of type Constant before each operator with weights, as IR files have.

A line is one run: best value, trials, those on one device that the released code rejects unmeasured, those measured in which all
operators are on one device (and constants alone elsewhere), the median number of clusters of measured trials. Runs what the CSV does not
hold yet, and appends it there.
"""
import argparse
import contextlib
import csv
import importlib.machinery
import io
import math
import os
import pathlib
import statistics
import sys
import tempfile
import time
import types
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILT_IN = ["builtin:resnet50", "builtin:inception-v3", "builtin:bert-base?seq=8", "builtin:bert-base"]
FILES = ["resnet_v1_50_i8.xml", "all_mpnet_base_v2.xml", "inception_v3_i8.xml"]
FIELDS = ["model", "seed", "nodes", "groups", "value_ns", "trials", "rejected", "one_device", "clusters", "cpu_s"]
REJECTED_S = 1e10


# ---- what the released code imports, by the definitions of those packages ----

def scatter(torch, src, index, dim=-1, reduce="sum"):
    size = int(index.max()) + 1 if index.numel() else 0
    out = torch.zeros(size, dtype=src.dtype)
    return out.scatter_reduce(0, index, src, {"min": "amin"}.get(reduce, reduce), include_self=False)


def segment_csr(torch, x, ptr, reduce):
    n = ptr[1:] - ptr[:-1]
    group = torch.repeat_interleave(torch.arange(n.numel()), n)
    total = torch.zeros((n.numel(), *x.shape[1:]), dtype=x.dtype).index_add(0, group, x)
    return total / n.clamp(min=1).view(-1, *[1] * (x.dim() - 1)) if reduce == "mean" else total


def coalesce(torch, index, value, m, n):
    return torch.unique(index, dim=1), value  # sorted by row, then by column


def transpose(torch, index, value, m, n):
    return coalesce(torch, torch.stack([index[1], index[0]]), value, n, m)


def sparse_tensor(torch):
    class SparseTensor:
        def __init__(self, row, col, value=None, sparse_sizes=None):
            by_row = (row * sparse_sizes[1] + col).long().argsort(stable=True)
            self.row, self.col, self.value = row[by_row].long(), col[by_row].long(), None if value is None else value[by_row]
            self.sizes = tuple(map(int, sparse_sizes))

        @staticmethod
        def from_dense(dense):
            row, col = dense.nonzero(as_tuple=True)
            return SparseTensor(row, col, dense[row, col], dense.shape)

        @staticmethod
        def from_edge_index(edge_index, sparse_sizes):
            return SparseTensor(edge_index[0], edge_index[1], None, sparse_sizes)

        def to(self, device):
            return self

        to_device = to

        def coo(self):
            return self.row, self.col, self.value

        def sparse_sizes(self):
            return self.sizes

        def t(self):
            return SparseTensor(self.col, self.row, self.value, self.sizes[::-1])

        def is_symmetric(self):
            other = self.t()
            return self.sizes == other.sizes and torch.equal(self.row, other.row) and torch.equal(self.col, other.col)

        def __matmul__(self, x):
            read = x[self.col] if self.value is None else x[self.col] * self.value.view(-1, 1)
            return torch.zeros((self.sizes[0], x.shape[1]), dtype=x.dtype).index_add(0, self.row, read)

    return SparseTensor


def graph_convolution(torch, SparseTensor):
    class GCNConv(torch.nn.Module):
        """D^-1/2 (A + I) D^-1/2 X W + b."""

        def __init__(self, in_channels, out_channels):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.empty(out_channels, in_channels))
            self.bias = torch.nn.Parameter(torch.zeros(out_channels))
            edge = math.sqrt(6 / (in_channels + out_channels))
            torch.nn.init.uniform_(self.weight, -edge, edge)

        def forward(self, x, adjacency):
            n = x.shape[0]
            row, col, value = adjacency.coo()
            others = row != col
            value = torch.ones(row.shape[0]) if value is None else value
            row, col = (torch.cat([index[others], torch.arange(n)]) for index in (row, col))
            value = torch.cat([value[others], torch.ones(n)])
            root = torch.zeros(n).index_add(0, row, value).pow(-0.5)
            return SparseTensor(row, col, root[row] * value * root[col], (n, n)) @ (x @ self.weight.t()) + self.bias

    return GCNConv


def graph_utils(torch):
    """Functions of torch_geometric.utils, as far as they are called."""
    def index_to_mask(index, size):
        mask = torch.zeros(size, dtype=torch.bool)
        mask[index] = True
        return mask

    def remove_self_loops(edge_index, edge_attr=None):
        kept = edge_index[0] != edge_index[1]
        return edge_index[:, kept], None if edge_attr is None else edge_attr[kept]

    def dropout_adj(edge_index, edge_attr, p, **others):
        assert p == 0
        return edge_index, edge_attr

    def remove_isolated_nodes(edge_index, edge_attr, num_nodes):
        mask = index_to_mask(edge_index.reshape(-1), num_nodes)
        return (mask.cumsum(0) - 1)[edge_index], edge_attr, mask

    def subgraph(subset, edge_index, edge_attr, num_nodes, return_edge_mask):
        mask = index_to_mask(subset, num_nodes)
        kept = mask[edge_index[0]] & mask[edge_index[1]]
        return edge_index[:, kept], edge_attr[kept], kept

    def segregate_self_loops(edge_index, edge_attr):
        loops = edge_index[0] == edge_index[1]
        return edge_index[:, ~loops], edge_attr[~loops], edge_index[:, loops], edge_attr[loops]

    def sort_edge_index(edge_index, sort_by_row):
        assert not sort_by_row
        return edge_index[:, edge_index[1].argsort(stable=True)]

    def degree(index):
        return torch.bincount(index).float()

    def to_dense_adj(edge_index):
        n = int(edge_index.max()) + 1
        dense = torch.zeros(1, n, n)
        dense[0].index_put_((edge_index[0], edge_index[1]), torch.ones(edge_index.shape[1]), accumulate=True)
        return dense

    names = dict(locals())
    names.pop("torch")
    return {**names, "add_self_loops": None, "k_hop_subgraph": None}


def stand_in(torch):
    """Puts modules where the released code looks for them."""
    def module(name, **members):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__spec__ = importlib.machinery.ModuleSpec(name, None)  # torch looks for some of them
        vars(sys.modules[name]).update(members)
        return sys.modules[name]

    def bound(function):
        return lambda *args, **more: function(torch, *args, **more)

    SparseTensor = sparse_tensor(torch)
    module("torch_scatter", scatter=bound(scatter), segment_csr=bound(segment_csr))
    module("torch_sparse", SparseTensor=SparseTensor, coalesce=bound(coalesce), transpose=bound(transpose))
    module("torch_geometric")
    module("torch_geometric.utils", **graph_utils(torch))
    module("torch_geometric.data", Data=types.SimpleNamespace)
    module("layers")
    module("layers.gcn_conv", GCNConv=graph_convolution(torch, SparseTensor))
    module("openvino").runtime = module("openvino.runtime")
    module("sklearn")
    module("sklearn.preprocessing", LabelEncoder=None)
    module("transformers", BertModel=None, BertTokenizer=None)
    module("nfd", node_dimension=None)
    module("tqdm", tqdm=lambda what: what)


# ---- its graph of a model ----

class Op:
    """What EmbeddingModel asks of an operation."""

    def __init__(self, name, kind):
        self.name, self.kind = name, kind

    def get_friendly_name(self):
        return self.name

    def get_output_size(self):
        return 1

    def get_output_shape(self, i):
        return []


def layers_of(released, networkx, problem, model):
    """Nodes with name and type, and edges, of an IR file or of a built-in network."""
    if model.endswith(".xml"):
        return released.xml2graph(None, model)
    made = networkx.DiGraph()
    for v, op in enumerate(problem.graph.operators.values()):
        if op.weight_bytes:
            made.add_node(f"c{v}", name=f"{op.name}/constant", type="Constant", shape=None)
        made.add_node(f"o{v}", name=op.name, type=op.kind, shape=None)
        if op.weight_bytes:
            made.add_edge(f"c{v}", f"o{v}")
    number = {name: v for v, name in enumerate(problem.graph.operators)}
    for tensor in problem.graph.tensors:
        made.add_edges_from((f"o{number[tensor.producer]}", f"o{number[to]}") for to in tensor.consumers)
    return made


def run(situ, torch, released, networkx, args, model, seed):
    numpy = sys.modules["numpy"]
    torch.manual_seed(seed)
    numpy.random.seed(seed)
    problem = situ.Problem(model, str(ROOT / "share/platforms/hsdag.json"), fusion="none")
    cpu, gpu = (device.name for device in problem.devices)
    layers = layers_of(released, networkx, problem, model)
    ops = [Op(layers.nodes[node]["name"], layers.nodes[node]["type"]) for node in layers.nodes]
    merged, group_map = released.merge_nodes(layers, released.merge_operations(layers))
    embedding = released.EmbeddingModel(sorted({op.kind for op in ops}))
    rows, group_ops = embedding.forward({op.name: op.kind for op in ops}, merged, group_map, ops, layers)
    for node in merged.nodes():
        merged.nodes[node]["x"] = rows[int(node[6:])]
    node_of = {layers.nodes[node]["name"]: node for node in layers.nodes}
    where = {name: node_of[name] for name in problem.operators}
    seen = {"trials": 0, "rejected": 0, "one_device": 0}
    clusters = []

    def place(of_clusters, node_ids, actions, placed=released.PPO.get_device_placement):
        seen["clusters"] = len(of_clusters)
        return placed(None, of_clusters, node_ids, actions)

    def reward_of(p, graph, xml_file, core):
        seen["trials"] += 1
        if len(set(p.values())) == 1:
            seen["rejected"] += 1
            return REJECTED_S
        placement = {name: gpu if p[node] else cpu for name, node in where.items()}
        seen["one_device"] += len(set(placement.values())) == 1
        clusters.append(seen["clusters"])
        value_ns = problem.value_ns(placement)
        return REJECTED_S if value_ns is None else value_ns / 1e9

    config = released.Config()
    config.in_channel = rows.shape[1]
    here, began = os.getcwd(), time.process_time()
    replaced = {"get_device_placement": lambda self, *args: place(*args), "sim_runtime": lambda self, *args: reward_of(*args)}
    with tempfile.TemporaryDirectory() as folder, mock.patch.multiple(released.PPO, **replaced), \
            contextlib.redirect_stdout(io.StringIO()) as said:
        os.chdir(folder)  # it writes files there
        try:
            released.train(merged, config, None, group_ops, layers)
        finally:
            os.chdir(here)
    best = [float(line.split("Best Runtime = ")[1]) for line in said.getvalue().splitlines() if "Best Runtime = " in line]
    return {"nodes": len(layers), "groups": len(merged), "value_ns": round(min(best) * 1e9), **seen,
            "clusters": statistics.median(clusters), "cpu_s": f"{time.process_time() - began:.1f}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clone", type=pathlib.Path)
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--data")
    parser.add_argument("--library", default=str(ROOT / "build/libsitu.so"))
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_intermixed_args()
    os.environ.setdefault("SITU_LIBRARY", args.library)
    sys.path[:0] = [str(args.clone), str(ROOT / "python")]
    import networkx
    import torch
    torch.set_num_threads(1)
    stand_in(torch)
    import main as released
    import situ
    models = args.models or BUILT_IN + [os.path.join(args.data, name) for name in FILES if args.data]
    begun = args.csv.exists()
    done = {(r["model"], int(r["seed"])) for r in csv.DictReader(args.csv.open())} if begun else set()
    with args.csv.open("a", newline="") as out:
        writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
        if not begun:
            writer.writeheader()
        for seed in range(args.seeds):
            for model in models:
                if (os.path.basename(model), seed) in done:
                    continue
                writer.writerow({"model": os.path.basename(model), "seed": seed,
                                 **run(situ, torch, released, networkx, args, model, seed)})
                out.flush()


if __name__ == "__main__":
    main()
