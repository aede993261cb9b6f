"""Pools, items and labels as others have them: frames, scikit-learn, Label Studio, TREC, CSV and JSON lines."""
