"""-div(kappa grad u) = f on the unit square, u = 0 at its sides; kappa varies a hundredfold.

    mpiexec -n 2 python3 variable_coefficients.py -n 511

Assembles five-point rows with NumPy into a matrix of type stencil and solves with stencilmg. Compares with
u = sin(pi x) sin(pi y), and writes variable_coefficients_python-n255.png. Options: -n,
-picture, PETSc's own.
"""
import sys
import numpy as np
import petsc4py
import shellac

petsc4py.init(sys.argv)
from petsc4py import PETSc

n = PETSc.Options().getInt("n", 255)  # interior points a side
picture = PETSc.Options().getString("picture", f"variable_coefficients_python-n{n}.png")
s, c, pi, h = np.sin, np.cos, np.pi, 1 / (n + 1)
kappa = lambda x, y: 10 ** (s(3 * pi * x) * s(3 * pi * y))

da = PETSc.DMDA().create([n, n], stencil_width=1)
A = shellac.stencil(da)
(i0, i1), (j0, j1) = da.getRanges()
(gi, gi1), (gj, _) = da.getGhostRanges()
i, j = (index.ravel() for index in np.meshgrid(np.arange(i0, i1), np.arange(j0, j1)))
x, y, width = (i + 1) * h, (j + 1) * h, gi1 - gi
faces = [kappa(x - h / 2, y), kappa(x + h / 2, y), kappa(x, y - h / 2), kappa(x, y + h / 2)]
rows = ((j - gj) * width + i - gi).astype(PETSc.IntType)  # numbers in the ghosted patch
columns = [np.where(inside, rows + step, -1)  # -1: beyond the sides, left out
           for step, inside in ((-1, i > 0), (1, i < n - 1), (-width, j > 0), (width, j < n - 1))]
A.setValuesLocalIJV(np.arange(0, 5 * len(i) + 1, 5, dtype=PETSc.IntType),
                    np.stack(columns + [rows], axis=1).ravel().astype(PETSc.IntType),
                    (np.stack([-k for k in faces] + [sum(faces)], axis=1) / h**2).ravel(), rowmap=rows)
A.assemble()

b, u, error = (da.createGlobalVec() for _ in range(3))
exact, slope = s(pi * x) * s(pi * y), 3 * pi**2 * np.log(10)
b.setArray(kappa(x, y) * (2 * pi**2 * exact - slope * (c(3 * pi * x) * s(3 * pi * y) * c(pi * x) * s(pi * y)
                                                      + s(3 * pi * x) * c(3 * pi * y) * s(pi * x) * c(pi * y))))
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setType("cg")
shellac.stencilmg(ksp)
ksp.setTolerances(rtol=1e-10)
ksp.setFromOptions()
ksp.solve(b, u)
error.setArray(u.getArray() - exact)
worst = error.norm(PETSc.NormType.INFINITY)
PETSc.Sys.Print(f"{n} x {n} points: {ksp.getIterationNumber()} iterations, error {worst:.2e}")
assert ksp.getConvergedReason() > 0 and worst < 40 * h**2, "the error is not of second order"

values = shellac.gather(da, u)
if values is not None:
    import pictures
    pictures.coefficient_and_flux(values, kappa, picture)
