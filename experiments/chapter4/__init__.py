"""Chapter 4: evaluating one model."""
