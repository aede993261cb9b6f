"""Chapter 5: comparing models."""
