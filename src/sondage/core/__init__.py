"""The statistics, from arrays to results: NumPy and SciPy only, no file, clock, environment or global random state."""
