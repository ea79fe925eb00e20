"""Many recordings side by side: find them, name their results, run them on workers."""
