"""Small simulated data sets that the tests share."""

import pytest

from evcrisp.experiments.simulated_datasets import make_twin


@pytest.fixture(scope="session")
def emlb(tmp_path_factory):
    folder = tmp_path_factory.mktemp("emlb")
    make_twin("emlb", folder, small=True)
    return folder


@pytest.fixture(scope="session")
def dnd21(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dnd21")
    make_twin("dnd21", folder, small=True)
    return folder


@pytest.fixture(scope="session")
def ecd(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ecd")
    make_twin("ecd", folder, small=True)
    return folder
