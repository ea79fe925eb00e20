"""Pieces of a long recording: where they start, their warm-up, their files, and how they are joined."""
