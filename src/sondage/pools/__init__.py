"""Pools: where the unlabelled items are."""

from sondage.pools.arrays import Pool, one_model, require_pool

__all__ = ["Pool", "one_model", "require_pool"]
