"""Operations on a whole recording: track, run, evaluate, filter."""
