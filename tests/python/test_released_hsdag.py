"""Stand-ins of bench/hsdag_released.py for packages that the released code of HSDAG imports, against dense algebra."""
import pathlib
import sys

import pytest

torch = pytest.importorskip("torch")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import hsdag_released as released  # noqa: E402


@pytest.fixture(name="matrix")
def random_matrix():
    torch.manual_seed(1)
    dense = torch.rand(7, 7) * (torch.rand(7, 7) < 0.4)
    return dense, released.sparse_tensor(torch).from_dense(dense)


def test_a_sparse_product_is_the_dense_one(matrix):
    dense, sparse = matrix
    x = torch.rand(7, 3)
    assert torch.allclose(sparse @ x, dense @ x)
    assert torch.allclose(sparse.t() @ x, dense.t() @ x)


def test_a_matrix_and_its_transpose_are_told_apart(matrix):
    dense, sparse = matrix
    assert not sparse.is_symmetric()
    assert released.sparse_tensor(torch).from_dense(dense + dense.t()).is_symmetric()


def test_the_convolution_is_that_of_its_formula():
    """D^-1/2 (A + I) D^-1/2 X W' + b, with A symmetric; self-loops that A has already count once."""
    torch.manual_seed(2)
    SparseTensor = released.sparse_tensor(torch)
    layer = released.graph_convolution(torch, SparseTensor)(4, 5)
    a = (torch.rand(6, 6) < 0.4).float()
    a = ((a + a.t()) > 0).float()
    x, one = torch.rand(6, 4), torch.eye(6)
    hat = a * (1 - one) + one
    d = torch.diag(hat.sum(1).pow(-0.5))
    assert torch.allclose(layer(x, SparseTensor.from_dense(a)), d @ hat @ d @ x @ layer.weight.t() + layer.bias, atol=1e-6)


def test_scatter_and_segments():
    index = torch.tensor([0, 2, 0, 2])
    assert released.scatter(torch, torch.tensor([5, 7, 3, 9]), index, reduce="min").tolist() == [3, 0, 7]
    x, ptr = torch.tensor([1.0, 3.0, 8.0]), torch.tensor([0, 2, 3])
    assert released.segment_csr(torch, x, ptr, "mean").tolist() == [2, 8]
    assert released.segment_csr(torch, x, ptr, "sum").tolist() == [4, 8]
    pairs = torch.tensor([[1, 0, 1, 0], [0, 2, 0, 1]])
    assert released.coalesce(torch, pairs, None, 2, 3)[0].tolist() == [[0, 0, 1], [1, 2, 0]]
    assert released.transpose(torch, pairs, None, 2, 3)[0].tolist() == [[0, 1, 2], [1, 0, 0]]


def test_nodes_without_an_edge_are_numbered_out():
    """Nodes 1 and 3 of five have no edge: 0, 2, 4 become 0, 1, 2."""
    utils = released.graph_utils(torch)
    edges, scores = torch.tensor([[0, 2], [4, 0]]), torch.tensor([0.1, 0.2])
    left, _, mask = utils["remove_isolated_nodes"](edges, scores, num_nodes=5)
    assert left.tolist() == [[0, 1], [2, 0]] and mask.tolist() == [True, False, True, False, True]
    kept, _, inside = utils["subgraph"](torch.tensor([0, 4]), edges, scores, num_nodes=5, return_edge_mask=True)
    assert kept.tolist() == [[0], [4]] and inside.tolist() == [True, False]
