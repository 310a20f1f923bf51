"""Matrix-free operators for PETSc: Shellac from petsc4py.

The functions that create operators take keyword arguments and NumPy arrays::

    from petsc4py import PETSc
    import shellac

    da = PETSc.DMDA().create([1000, 1000])
    A = shellac.laplace(da)                      # -Laplacian, a PETSc.Mat that is never assembled
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType("cg")
    shellac.stencilmg(ksp.getPC(), smooths=2)    # matrix-free multigrid

An equation may be a text: ``shellac.Equation(da, "residual = -laplacian(u) - 1").solve()``.

Importing the package loads ``libshellac.so``, before or after PETSc is initialised; its types then work by name too:
``mat.setType("laplace")``, ``-dm_mat_type stencil``, ``-pc_type stencilmg``.

Every function of the C interface that sets, gets or views something is here by its C name, with its manual page as
docstring: ``shellac.MatHelmholtzSetShift(A, 4.0)``. Values of C enumerations are strings. An error of the library is a
``petsc4py.PETSc.Error``, a wrong argument a ``TypeError`` or a ``ValueError``.
"""

from . import functions as _functions
from .arrays import asarray
from .equations import Equation
from .grids import gather, scatter
from .library import library_path, load as _load
from .operators import advection_diffusion, diffusion, helmholtz, laplace, right_hand_side, stencil
from .solvers import burgers, stencilmg
from .sums import gradient, kernels as _kernels, kernelsum, multiply, vector

_load()
globals().update(_functions.define())
__version__ = _functions.version()


def __getattr__(name):
    if name == "KERNELS":  # the library's own list
        return _kernels()
    raise AttributeError(f"module 'shellac' has no attribute {name!r}")


__all__ = ["Equation", "KERNELS", "advection_diffusion", "asarray", "burgers", "diffusion", "gather", "gradient",
           "helmholtz", "kernelsum", "laplace", "library_path", "multiply", "right_hand_side", "scatter", "stencil",
           "stencilmg", "vector",
           *_functions.names()]
