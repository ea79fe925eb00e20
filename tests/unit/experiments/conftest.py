"""Small simulated data sets that the tests share."""

import pytest

from evcrisp.experiments.simulated_datasets import simulate_dataset


@pytest.fixture(scope="session")
def emlb(tmp_path_factory):
    folder = tmp_path_factory.mktemp("emlb")
    simulate_dataset("emlb", folder, small=True)
    return folder


@pytest.fixture(scope="session")
def dnd21(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dnd21")
    simulate_dataset("dnd21", folder, small=True)
    return folder


@pytest.fixture(scope="session")
def ecd(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ecd")
    simulate_dataset("ecd", folder, small=True)
    return folder
