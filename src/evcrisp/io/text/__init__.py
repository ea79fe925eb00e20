"""Text: CSV, and the ECD layout plain or zipped."""
