"""Linear algebra that looks at the state of its solver on the host."""

from __future__ import annotations

from capturelint.operations.dispatched.row import SOLVER, SOURCE, Dispatched, refusing, safe
from capturelint.operations.messages import NO_EIGENVALUES, NO_FACTOR, UNPINNED

_ON_EMPTY = (
    "_linalg_svd _linalg_eigh linalg_lstsq linalg_lu linalg_lu_factor_ex "
    "linalg_ldl_factor_ex linalg_ldl_solve linalg_matrix_exp linalg_pinv.atol_rtol_tensor "
    "cholesky cholesky_inverse cholesky_solve"
)

DECOMPOSITIONS: tuple[Dispatched, ...] = (
    *refusing("CL801", "_linalg_check_errors", kind=SOLVER),
    *safe(_ON_EMPTY, "empty matrices"),
    *refusing("CL801", "linalg_eig linalg_lstsq linalg_ldl_solve cholesky", kind=SOLVER),
    *refusing("CL801", "_linalg_eigvals", kind=SOLVER, checked=SOURCE),
    *refusing("CL801", "linalg_lu linalg_lu_factor_ex", "matrices not square", kind=SOLVER),
    *refusing("CL801", "cholesky_inverse cholesky_solve", "several matrices", kind=SOLVER),
    *refusing("CL801", "_linalg_eigh", "several matrices", kind=SOLVER),
    *refusing("CL801", "_linalg_eigh", kind=SOLVER, message=NO_EIGENVALUES),
    *refusing("CL801", "linalg_ldl_factor_ex", kind=SOLVER, message=NO_FACTOR),
    *refusing("CL801", "_linalg_svd", kind=SOLVER, message=UNPINNED),
    *safe("linalg_matrix_exp", "matrices of one element"),
    *refusing("CL801", "linalg_matrix_exp", kind=SOLVER, message=UNPINNED),
    *refusing(
        "CL801", "linalg_pinv.atol_rtol_tensor", "hermitian", kind=SOLVER, message=NO_EIGENVALUES
    ),
    *refusing("CL801", "linalg_pinv.atol_rtol_tensor", kind=SOLVER, message=UNPINNED),
)
