"""Many motions in one window: find layers, their motions, and where each of them holds."""
