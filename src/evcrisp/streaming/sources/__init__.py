"""Sources of live events, one file each."""
