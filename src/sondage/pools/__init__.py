"""Pools: where the unlabelled items are."""

from sondage.pools.arrays import Pool

__all__ = ["Pool"]
