"""Windows of a recording in batches on a device."""
