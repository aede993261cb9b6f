"""Chapter 6: evaluating and comparing rankings."""
