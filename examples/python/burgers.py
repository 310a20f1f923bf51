"""Burgers' equation u_t + (u**2/2)_x = 0 on [0, 1]: a shock, and a rarefaction wave that catches up with it.

    mpiexec -n 2 python3 burgers.py -n 1000 -burgers_flux rusanov

Compares with the exact solution and writes burgers_python-n400.png. Options: -n, -picture, -burgers_..., PETSc's own.
"""
import sys

import numpy as np
import petsc4py
import shellac

petsc4py.init(sys.argv)
from petsc4py import PETSc

n = PETSc.Options().getInt("n", 400)  # cells
picture = PETSc.Options().getString("picture", f"burgers_python-n{n}.png")
start, end = 0.1, 0.35  # of the box, where u = 1


def exact(x, t):
    shock = end + t / 2 if t < 2 * (end - start) else start + np.sqrt(2 * (end - start) * t)
    rarefaction = np.clip((x - start) / t, 0, 1) if t > 0 else (x >= start) * 1.0
    return np.where(x < shock, rarefaction, 0)


da = PETSc.DMDA().create([n], dof=1, stencil_width=3)
ts = PETSc.TS().create()
ts.setDM(da)
shellac.burgers(ts, flux="godunov", reconstruct="weno5", bc="outflow", lengths=[1.0], fused_scheme="ssprk3")
ts.setTimeStep(0.5 / n)
ts.setExactFinalTime(PETSc.TS.ExactFinalTime.MATCHSTEP)
ts.setFromOptions()

u, error = da.createGlobalVec(), da.createGlobalVec()
(i0, i1), = da.getRanges()
x = (np.arange(i0, i1) + 0.5) / n
u.setArray(exact(x, 0))
times, states = np.linspace(0, 1.6, 385), [shellac.gather(da, u)]
for before, after in zip(times, times[1:]):
    ts.setTime(before)
    ts.setTimeStep(0.5 / n)
    ts.setMaxTime(after)
    ts.solve(u)
    states.append(shellac.gather(da, u))
error.setArray(u.getArray() - exact(x, times[-1]))
mean, lost = error.norm(PETSc.NormType.N1) / n, abs(u.sum() / n - (end - start))
PETSc.Sys.Print(f"{n} cells: mean error {mean:.1e}, mass lost {lost:.1e}")
assert mean < 2 / n and lost < 1e-3, "the error is not of first order"
if states[0] is not None:
    import pictures
    pictures.profiles((np.arange(n) + 0.5) / n, times, states, exact, picture)
