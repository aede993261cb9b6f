"""Pools: where the unlabelled items are."""

from sondage.pools.arrays import Pool, require_pool

__all__ = ["Pool", "require_pool"]
