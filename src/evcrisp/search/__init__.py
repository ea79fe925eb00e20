"""Search for the motion of a window: coarse to fine, then local refinement."""
