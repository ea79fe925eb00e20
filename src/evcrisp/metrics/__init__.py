"""How good a result is: with the truth, without it, and beside a random control."""

from evcrisp.metrics.alignment import (
    FlowError,
    MotionError,
    endpoint_error,
    flow_warp_loss,
    motion_error,
)
from evcrisp.metrics.aocc import AoccCurve, AoccMeter, aocc
from evcrisp.metrics.confusion import Confusion, confusion
from evcrisp.metrics.control import random_chunks, random_subset
from evcrisp.metrics.entropy import block_entropy, entropy_reduction
from evcrisp.metrics.esr import esr
from evcrisp.metrics.esr_meter import EsrMeter
from evcrisp.metrics.esr_report import EsrReport, EsrSlices
from evcrisp.metrics.labels import rank_auc, sensitivity, specificity
from evcrisp.metrics.quality import Quality, QualityMeter
from evcrisp.metrics.roc import RocCurve, SweepCurve, roc_curve, sweep_curve
from evcrisp.metrics.truth import interpolate_truth

__all__ = [
    "AoccCurve",
    "AoccMeter",
    "Confusion",
    "EsrMeter",
    "EsrReport",
    "EsrSlices",
    "FlowError",
    "MotionError",
    "Quality",
    "QualityMeter",
    "RocCurve",
    "SweepCurve",
    "aocc",
    "block_entropy",
    "confusion",
    "endpoint_error",
    "entropy_reduction",
    "esr",
    "flow_warp_loss",
    "interpolate_truth",
    "motion_error",
    "random_chunks",
    "random_subset",
    "rank_auc",
    "roc_curve",
    "sensitivity",
    "specificity",
    "sweep_curve",
]
