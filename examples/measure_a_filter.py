"""Measure a filter on scenes whose truth is known, for several noise rates."""

import evcrisp
from evcrisp.metrics import rank_auc, sensitivity, specificity


def main() -> None:
    """Print a table of noise rate and quality."""
    print("noise Hz/px  sensitivity  specificity  AUC")
    for noise_hz in (1.0, 5.0, 20.0):
        scene = evcrisp.simulate(duration_us=50_000, noise_hz=noise_hz, seed=1)
        labels = evcrisp.denoise(scene.events, "baf", tau_us=3_000)
        truth = scene.origin == 0
        print(
            f"{noise_hz:11.0f}  {sensitivity(labels.signal, truth):11.3f}  "
            f"{specificity(labels.signal, truth):11.3f}  {rank_auc(labels.score, truth):.3f}"
        )


if __name__ == "__main__":
    main()
