"""Gray and Scott's reaction and diffusion with two constants as fields: Pearson's patterns (1993) in one picture.

    mpiexec -n 2 python3 gray_scott.py -n 512

The feed rate F grows along y and the rate of removal k along x. Compares with NumPy's finite differences and writes
gray_scott_python-n256-time5000.png. Options: -n, -time, -picture, PETSc's own.
"""

import sys

import numpy as np
import petsc4py
import shellac

petsc4py.init(sys.argv)
from petsc4py import PETSc

n = PETSc.Options().getInt("n", 256)  # points a side, at a distance of 0.01
time = PETSc.Options().getReal("time", 5000)
picture = PETSc.Options().getString("picture", f"gray_scott_python-n{n}-time{time:g}.png")

text = f"""
    unknowns(u, v)
    domain(0, {n / 100}, 0, {n / 100})
    field(F)
    field(k)
    parameter(D)
    neumann(sides) = 0
    rate(u) = 2 * D * laplacian(u) - u * v * v + F * (1 - u)
    rate(v) = D * laplacian(v) + u * v * v - (F + k) * v
"""
F = np.linspace(0.01, 0.07, n)[:, None]  # [y, x]
k = np.linspace(0.05, 0.068, n)[None, :]
eq = shellac.Equation(text, shape=(n, n), F=F, k=k, D=1e-5, options={"ts_type": "euler"})
da = eq.da

state = np.zeros((n, n, 2))
state[..., 0] = 1
for x, y in np.random.default_rng(1).integers(0, n - 8, (n * n // 500, 2)):
    state[y : y + 8, x : x + 8] = 0.5, 0.25  # a spot
states = []
u = shellac.scatter(da, state)
for until in (time / 20, time):
    u = eq.solve(u, until=until, dt=1)
    states.append(shellac.gather(da, u))
rate = shellac.gather(da, eq.evaluate(u))

if rate is not None:  # on the first rank
    u, v = np.moveaxis(states[-1], -1, 0)
    laplacian = lambda w: sum(np.diff(np.pad(w, 1, "edge"), 2, axis)[keep] for axis, keep in (
        (0, np.s_[:, 1:-1]), (1, np.s_[1:-1, :]))) / 0.01**2
    expected = 2e-5 * laplacian(u) - u * v**2 + F * (1 - u), 1e-5 * laplacian(v) + u * v**2 - (F + k) * v
    difference = abs(rate - np.stack(expected, axis=-1)).max()
    print(f"{n} x {n} points, t = {time:g}: rates differ from NumPy's by {difference:.1e}")
    assert difference < 1e-13 and 0 <= v.min() and v.max() < 1, "the rates are not NumPy's"
    import pictures
    pictures.patterns([s[..., 1] for s in states], (time / 20, time), (k, F), picture)
