"""What is left unsaid in one thread is said in others, and afterwards."""

import threading
import warnings

import pytest

from sondage.errors import SondageWarning, unsaid, warn


def test_other_threads_hear_and_filters_stay():
    filters, inside, said = list(warnings.filters), threading.Event(), threading.Event()

    def quiet():
        with unsaid():
            inside.set()
            assert said.wait(10)
            warn("not this")  # an error here, where warnings are errors, would be one of the thread

    thread = threading.Thread(target=quiet)
    thread.start()
    assert inside.wait(10)
    with pytest.warns(SondageWarning, match="but this"):
        warn("but this")
    said.set()
    thread.join()
    assert warnings.filters == filters


def test_an_error_inside_ends_it():
    with pytest.raises(ValueError, match="trouble"), unsaid():
        raise ValueError("trouble")
    with pytest.warns(SondageWarning, match="again"):
        warn("again")
