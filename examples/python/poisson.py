"""-Laplacian(u) = f on the unit square, u = 0 at its sides: conjugate gradients with matrix-free multigrid.

    mpiexec -n 2 python3 poisson.py -n 1023

Compares with u = exp(x) sin(3 pi x) sin(2 pi y), and writes poisson_python-n511.png. Options: -n, -picture,
PETSc's own.
"""

import sys

import numpy as np
import petsc4py
import shellac

petsc4py.init(sys.argv)
from petsc4py import PETSc

options = PETSc.Options()
n = options.getInt("n", 511)  # interior points a side; the spacing is h = 1/(n + 1)
picture = options.getString("picture", f"poisson_python-n{n}.png")

da = PETSc.DMDA().create([n, n])
A = shellac.laplace(da)
(i0, i1), (j0, j1) = da.getRanges()
x, y = np.meshgrid(np.arange(i0 + 1, i1 + 1) / (n + 1), np.arange(j0 + 1, j1 + 1) / (n + 1))  # [y, x]
exact = np.exp(x) * np.sin(3 * np.pi * x) * np.sin(2 * np.pi * y)
f = (13 * np.pi**2 - 1) * exact - 6 * np.pi * np.exp(x) * np.cos(3 * np.pi * x) * np.sin(2 * np.pi * y)
b, u, error = (da.createGlobalVec() for _ in range(3))
b.setArray(f.ravel())

ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setType("cg")
shellac.stencilmg(ksp)
ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
ksp.setTolerances(rtol=1e-10)
ksp.setConvergenceHistory()
ksp.setFromOptions()
ksp.solve(b, u)

error.setArray(u.getArray() - exact.ravel())
worst = error.norm(PETSc.NormType.INFINITY)
history = ksp.getConvergenceHistory() / b.norm()
PETSc.Sys.Print(f"{n} x {n} points: {ksp.getIterationNumber()} iterations, error {worst:.2e}")
assert ksp.getConvergedReason() > 0 and worst < 40 / (n + 1) ** 2, "the error is not of second order"

values = shellac.gather(da, u)
if values is not None:
    import pictures
    pictures.solution_and_residuals(values, history, f"CG with stencilmg, {n} × {n} points", picture)
