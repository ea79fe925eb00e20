"""A filter, an estimator and a metric for evcrisp."""

from evcrisp_example.centroid import Centroid
from evcrisp_example.grid import Grid
from evcrisp_example.on_share import OnShare

__all__ = ["Centroid", "Grid", "OnShare"]
