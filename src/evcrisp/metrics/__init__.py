"""Metrics: labels and motion against the truth, structure without it, random controls."""

from evcrisp.metrics.alignment import (
    MotionError,
    flow_warp_loss,
    interpolate_truth,
    motion_error,
)
from evcrisp.metrics.aocc import AoccCurve, AoccMeter, aocc
from evcrisp.metrics.axes import AxisAgreement, axis_agreement
from evcrisp.metrics.boxes import TrackingScore, box_overlap, hota
from evcrisp.metrics.chunks import Meter
from evcrisp.metrics.control import random_chunks, random_subset
from evcrisp.metrics.entropy import EntropyMeter, block_entropy, entropy_reduction
from evcrisp.metrics.esr import EsrMeter, EsrReport, EsrSlices, esr
from evcrisp.metrics.flow import FlowErrors, flow_errors
from evcrisp.metrics.labels import Confusion, confusion, rank_auc, sensitivity, specificity
from evcrisp.metrics.quality import Quality, QualityMeter
from evcrisp.metrics.registry import METRICS, Metric, measure
from evcrisp.metrics.roc import RocCurve, SweepCurve, roc_curve, sweep_curve

__all__ = [
    "METRICS", "AoccCurve", "AoccMeter", "AxisAgreement", "Confusion", "EntropyMeter", "EsrMeter", "EsrReport",
    "EsrSlices", "FlowErrors", "Meter", "Metric", "MotionError", "Quality", "QualityMeter",
    "RocCurve", "SweepCurve", "TrackingScore", "aocc", "axis_agreement", "block_entropy", "box_overlap",
    "confusion", "entropy_reduction", "esr", "flow_errors", "flow_warp_loss", "hota",
    "interpolate_truth", "measure", "motion_error", "random_chunks", "random_subset",
    "rank_auc", "roc_curve", "sensitivity", "specificity", "sweep_curve",
]  # fmt: skip
