"""Rules for the sources of kernels."""

import ast
from pathlib import Path

import pytest

import evcrisp.kernels

FOLDER = Path(evcrisp.kernels.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(FOLDER)) for path in FILES])
def test_kernels_use_no_linear_algebra_that_needs_scipy(path):
    tree = ast.parse(path.read_text())
    products = [node for node in ast.walk(tree) if isinstance(node, ast.MatMult)]
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not products
    assert not names & {"dot", "linalg", "vdot", "matmul"}


def test_there_are_kernels():
    assert len(FILES) > 20
