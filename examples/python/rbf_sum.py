"""Interpolates scattered data with radial basis functions: s(x) = sum_j c_j g(|x - x_j|) with s(x_i) = f(x_i).

    mpiexec -n 2 python3 rbf_sum.py -n 1200

The matrix is a kernel sum, never assembled; conjugate gradients with the preconditioner kernelsum solve A c = f. A
second kernel sum evaluates s on a grid. Writes rbf_sum_python-n1200-sigma0.0577.png. Options: -n, -sigma, -picture,
PETSc's own.

Test function: R. Franke, Scattered data interpolation, 1982.
"""
import sys

import numpy as np
import petsc4py
import shellac

petsc4py.init(sys.argv)
from petsc4py import PETSc

options = PETSc.Options()
n = options.getInt("n", 600)
sigma = options.getReal("sigma", 2 / np.sqrt(n))  # about two distances between points
picture = options.getString("picture", f"rbf_sum_python-n{n}-sigma{sigma:.3g}.png")
rank, ranks = PETSc.COMM_WORLD.getRank(), PETSc.COMM_WORLD.getSize()


def franke(x, y):
    return (0.75 * np.exp(-((9 * x - 2) ** 2 + (9 * y - 2) ** 2) / 4)
            + 0.75 * np.exp(-((9 * x + 1) ** 2) / 49 - (9 * y + 1) / 10)
            + 0.5 * np.exp(-((9 * x - 7) ** 2 + (9 * y - 3) ** 2) / 4)
            - 0.2 * np.exp(-((9 * x - 4) ** 2) - (9 * y - 7) ** 2))


# the same on all ranks, of low discrepancy (M. Roberts, The unreasonable effectiveness of quasirandom sequences, 2018)
points = (0.5 + np.outer(np.arange(n), [0.7548776662466927, 0.5698402909980532])) % 1
mine = np.array_split(points, ranks)[rank]
A = shellac.kernelsum(mine, kernel="inverse_multiquadric", sigma=sigma)
f, c = A.createVecs()
f.setArray(franke(*mine.T))
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setType("cg")
ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)  # the norm that is tested is the residual's own
ksp.getPC().setType("kernelsum")
ksp.setTolerances(rtol=1e-6)
ksp.setFromOptions()
ksp.solve(f, c)

m = 128  # points a side of the grid, whole rows on each rank
da = PETSc.DMDA().create([m, m], proc_sizes=(1, ranks))
(i0, i1), (j0, j1) = da.getRanges()
x, y = (a.ravel() for a in np.meshgrid((np.arange(i0, i1) + 0.5) / m, (np.arange(j0, j1) + 0.5) / m))
E = shellac.kernelsum(np.stack([x, y], axis=1), mine, kernel="inverse_multiquadric", sigma=sigma)
s, error = da.createGlobalVec(), da.createGlobalVec()
s.setArray(shellac.multiply(E, c.getArray()))
error.setArray(s.getArray() - franke(x, y))
mean = error.norm() / m
PETSc.Sys.Print(f"{n} points: {ksp.getIterationNumber()} iterations, mean error {mean:.1e}")
assert ksp.getConvergedReason() > 0 and ksp.getIterationNumber() < 20 and mean < 0.6 / n, "the interpolant is wrong"
values, errors = shellac.gather(da, s), shellac.gather(da, error)
if values is not None:
    import pictures
    pictures.interpolant(points, values, errors, picture)
