"""A bias to rank models by: the package's own has no better or worse."""

from dataclasses import replace

from sondage.core.measures import Bias


class LeastBias(Bias):
    """A bias of which less is better."""

    def ready(self, task):
        return replace(super().ready(task), higher_is_better=False)
