"""Systems of equations with a positive definite matrix: small ones, of which a fit solves many.

For these SciPy's own functions take many times as long as LAPACK, which they call.
"""

from __future__ import annotations

import numpy as np
import scipy  # scipy.linalg is loaded when it is used

from sondage.core.predictions import Floats

__all__ = ["factor", "solve"]


def factor(matrix: Floats) -> Floats:
    """Return the lower Cholesky factor L of a matrix A = L L', both (m, m); what is above its diagonal means nothing.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite; elements that are not finite make a factor that is not either.

    Examples
    --------
    >>> float(factor(np.array([[9.0]]))[0, 0])
    3.0
    """
    found, failed = scipy.linalg.lapack.dpotrf(matrix, lower=1, clean=0)
    if failed:
        raise np.linalg.LinAlgError(f"the leading {failed} rows of a matrix are not positive definite")
    return np.asarray(found)


def solve(factored: Floats, right: Floats) -> Floats:
    """Return the solution x of L L' x = b, shape (m,), of a factor L, (m, m), and a right side b, (m,).

    Examples
    --------
    >>> solve(factor(np.diag([4.0, 9.0])), np.array([2.0, 3.0])).tolist()
    [0.5, 0.3333333333333333]
    """
    return np.asarray(scipy.linalg.lapack.dpotrs(factored, right, lower=1)[0]) if len(right) else right
