"""Appendix A.2: comprehensive results of F-measures."""
