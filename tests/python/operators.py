"""The Python package, on any number of ranks: beside NumPy, and beside matrices assembled without it."""

import pathlib
import re
import sys
import types
import unittest.mock

import numpy as np
import petsc4py

petsc4py.init(sys.argv[:1])
import shellac
from shellac import functions
from petsc4py import PETSc

rank, ranks = PETSc.COMM_WORLD.getRank(), PETSc.COMM_WORLD.getSize()
rng = np.random.default_rng(1)  # the same numbers on all ranks
INFINITY = PETSc.NormType.INFINITY


def share(points):
    return np.array_split(points, ranks)[rank]


def laplacian(da, lengths, shift=0):
    """The five-point matrix with eliminated boundary points, as AIJ."""
    A = da.createMatrix()
    n = da.getSizes()
    h = [length / (m + 1) for length, m in zip(lengths, n)]
    row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    (i0, i1), (j0, j1) = da.getRanges()
    for j in range(j0, j1):
        for i in range(i0, i1):
            row.index = (i, j)
            A.setValueStencil(row, row, 2 / h[0] ** 2 + 2 / h[1] ** 2 + shift)
            for di, dj, step in ((-1, 0, h[0]), (1, 0, h[0]), (0, -1, h[1]), (0, 1, h[1])):
                if 0 <= i + di < n[0] and 0 <= j + dj < n[1]:
                    column.index = (i + di, j + dj)
                    A.setValueStencil(row, column, -1 / step**2)
    A.assemble()
    return A


class Operators(unittest.TestCase):
    def setUp(self):
        self.da = PETSc.DMDA().create([9, 12], stencil_width=1)
        self.x = self.da.createGlobalVec()
        self.x.setRandom()

    def compare(self, A, B):
        y, z = A * self.x, B * self.x
        y -= z
        self.assertLessEqual(y.norm(INFINITY), 1e-13 * z.norm(INFINITY))

    def test_laplace_and_helmholtz(self):
        self.compare(shellac.laplace(self.da), laplacian(self.da, [1, 1]))
        self.compare(shellac.laplace(self.da, lengths=[2, 3], halo="host"), laplacian(self.da, [2, 3]))
        H = shellac.helmholtz(self.da, omega=2, boundary="eliminated")
        self.compare(H, laplacian(self.da, [1, 1], 4))
        self.assertEqual(shellac.MatHelmholtzGetShift(H), 4)
        shellac.MatHelmholtzSetShift(H, 5)
        self.compare(H, laplacian(self.da, [1, 1], 5))

    def test_neumann_rows_add_up_to_zero(self):
        A = shellac.laplace(self.da, boundary="neumann")
        self.x.set(1)
        self.assertLessEqual((A * self.x).norm(INFINITY), 1e-10)

    def test_a_form_for_each_side_and_its_data(self):
        da = PETSc.DMDA().create([9], stencil_width=1)
        h, alpha = 3 / (9 - 1 + 1 + 0.5), 2.0  # eliminated counts 1, robin 1/2
        u = lambda x: 1 + 2 * x  # differences are exact
        for A in (shellac.laplace(da, boundary=["eliminated", "robin"], robin=alpha, lengths=[3]),
                  shellac.helmholtz(da, shift=0, boundary=["eliminated", "robin"], robin=[0, alpha], lengths=[3]),
                  shellac.diffusion(da, 1, boundary=["eliminated", "robin"], robin=alpha, lengths=[3]),
                  shellac.advection_diffusion(da, 1, [0], boundary=["eliminated", "robin"], robin=alpha, lengths=[3])):
            b = shellac.right_hand_side(A, lambda x: 0, lambda x, axis, upper: 2 + alpha * u(x[0]) if upper else u(x[0]))
            v = b.duplicate()
            (i0, i1), = da.getRanges()
            v.setArray(u(h * np.arange(1, 10))[i0:i1])
            r = A * v - b
            self.assertLessEqual(r.norm(INFINITY), 1e-12 * b.norm(INFINITY))
        shellac.MatLaplaceSetBoundaries(A, ["eliminated", "robin"])  # what it has

    def test_diffusion_and_advection_on_a_ring_beside_numpy(self):
        n = 12
        da = PETSc.DMDA().create([n], boundary_type=["periodic"], stencil_width=1)
        (i0, i1), = da.getRanges()
        k, w, x = (1 + rng.random(n) for _ in range(3))
        field, velocity, v = (da.createGlobalVec() for _ in range(3))
        for vector, values in ((field, k), (velocity, w), (v, x)):
            vector.setArray(values[i0:i1])
        for mean, of in (("harmonic", lambda a, b: 2 / (1 / a + 1 / b)), ("arithmetic", lambda a, b: (a + b) / 2)):
            A = shellac.diffusion(da, field, mean=mean, shift=3)
            B = shellac.advection_diffusion(da, field, velocity, scheme="upwind", mean=mean)
            for factor in (1, 2):
                face = of(factor * k, factor * np.roll(k, -1))
                flux = face * (np.roll(x, -1) - x) * n
                expected = -(flux - np.roll(flux, 1)) * n
                for M, more in ((A, 3 * x), (B, w * (x - np.roll(x, 1)) * n)):
                    np.testing.assert_allclose((M * v).getArray(), (expected + more)[i0:i1], rtol=1e-11, atol=1e-11)
                field.scale(2 if factor == 1 else 0.5)
        for M in (shellac.diffusion(da, k if rank == 0 else np.zeros(n)), shellac.diffusion(da, k if rank == 0 else None),
                  shellac.diffusion(da, k if rank == 0 else 1), shellac.advection_diffusion(da, k, [1])):
            face = 2 / (1 / k + 1 / np.roll(k, -1))
            flux = face * (np.roll(x, -1) - x) * n
            expected = -(flux - np.roll(flux, 1)) * n
            if M.getType() == "advection_diffusion":
                expected += (np.roll(x, -1) - np.roll(x, 1)) * n / 2
            np.testing.assert_allclose((M * v).getArray(), expected[i0:i1], rtol=1e-11, atol=1e-11)
        on_faces = shellac.diffusion(da, [field])  # k[i] between the points i - 1 and i
        flux = k * (x - np.roll(x, 1)) * n
        np.testing.assert_allclose((on_faces * v).getArray(), ((flux - np.roll(flux, -1)) * n)[i0:i1], rtol=1e-11,
                                   atol=1e-11)
        with self.assertRaises(PETSc.Error):
            shellac.diffusion(da, [field, field])

    def test_solid_points_beside_numpy(self):
        da = PETSc.DMDA().create([8], stencil_width=1)
        mask = np.array([0, 0, 1, 1, 0, 0, 0, 1])
        v = shellac.scatter(da, np.arange(1.0, 9) if rank == 0 else None)
        for wall, expected in (("noflux", [0, 1, 3, 4, -1, 0, 1, 8]), ("value", [0, 5, 3, 4, 9, 0, 15, 8])):
            solid = dict(mask=mask if rank == 0 else None, wall=wall, lengths=[9])
            for A in (shellac.diffusion(da, 1, **solid), shellac.laplace(da, **solid),
                      shellac.helmholtz(da, shift=0, **solid)):
                w = shellac.gather(da, A * v)
                if rank == 0:
                    np.testing.assert_allclose(w, expected, atol=1e-13)

    def test_an_exception_in_a_function_is_raised(self):
        A = shellac.laplace(self.da)

        def fails(x):
            raise KeyError("no such source")

        with self.assertRaises(KeyError):
            shellac.right_hand_side(A, fails)
        with self.assertRaisesRegex(TypeError, "function of the point x"):
            shellac.MatLaplaceSetRightHandSide(A, 3, None, self.x)

    def test_stencil_captures_what_is_assembled(self):
        before = self.da.createMatrix().getType()
        S = shellac.stencil(self.da)
        self.assertEqual(self.da.createMatrix().getType(), before)
        other = PETSc.DMDA().create([9, 12], stencil_width=1)
        reference = laplacian(other, [1, 2])
        (i0, i1), (j0, j1) = self.da.getRanges()
        rows = reference.getOwnershipRange()
        for r in range(*rows):
            columns, values = reference.getRow(r)
            S.setValues(r, columns, values)
        S.assemble()
        self.assertEqual(S.getType(), "stencil")
        self.compare(S, reference)

    def test_stencilmg_takes_keywords_and_the_command_line_wins(self):
        A = shellac.laplace(self.da)
        for given in (False, True):
            ksp = PETSc.KSP().create()
            ksp.setOptionsPrefix("mg_")
            ksp.setOperators(A)
            options = PETSc.Options("mg_")
            if given:
                options["pc_stencilmg_smooths"] = 1
            pc = shellac.stencilmg(ksp, smooths=2, cycle_type="w")
            self.assertEqual(options.hasName("pc_stencilmg_cycle_type"), False)
            self.assertEqual(options.hasName("pc_stencilmg_smooths"), given)
            self.assertEqual(pc.getType(), "stencilmg")
            b = self.x.duplicate()
            ksp.solve(self.x, b)
            self.assertGreater(ksp.getConvergedReason(), 0)
            options.delValue("pc_stencilmg_smooths")

    def test_gather(self):
        (i0, i1), (j0, j1) = self.da.getRanges()
        i, j = np.meshgrid(np.arange(i0, i1), np.arange(j0, j1))
        self.x.setArray((i + 100 * j).ravel())
        values = shellac.gather(self.da, self.x)
        if rank == 0:
            np.testing.assert_array_equal(values, np.arange(9)[None, :] + 100 * np.arange(12)[:, None])


class Sums(unittest.TestCase):
    def test_every_kernel_beside_numpy(self):
        s, k = 0.3, 4.0
        formulas = {"gaussian": lambda r: np.exp(-r**2 / (2 * s**2)), "laplace": lambda r: 1 / (4 * np.pi * r),
                    "helmholtz": lambda r: np.exp(1j * k * r) / (4 * np.pi * r),
                    "yukawa": lambda r: np.exp(-k * r) / (4 * np.pi * r), "multiquadric": lambda r: np.sqrt(r**2 + s**2),
                    "inverse_multiquadric": lambda r: 1 / np.sqrt(r**2 + s**2),
                    "thin_plate": lambda r: r**2 * np.log(r), "logarithm": lambda r: -np.log(r) / (2 * np.pi)}
        self.assertEqual(set(formulas), set(shellac.KERNELS))
        for dim in (1, 2, 3):
            x, y = rng.random((31, dim)), rng.random((17, dim)) + 1
            distance = np.linalg.norm(share(x)[:, None] - y[None], axis=2)
            for kernel, (has_sigma, has_k) in shellac.KERNELS.items():
                A = shellac.kernelsum(share(x), share(y), kernel=kernel, sigma=s if has_sigma else None,
                                      wavenumber=k if has_k else None)
                c = rng.random(17) + (1j * rng.random(17) if kernel == "helmholtz" else 0)
                np.testing.assert_allclose(shellac.multiply(A, share(c)), formulas[kernel](distance) @ c, rtol=1e-12,
                                           err_msg=f"{kernel} in {dim}-D")

    def test_arguments_that_differ_between_ranks_are_errors_on_all(self):
        if ranks == 1:
            return
        x = rng.random((20, 2))
        for arguments in ({"sigma": 0.1 * (rank + 1)}, {"kernel": ["laplace", "logarithm"][rank > 0]},
                          {"type": ["direct", "fast"][rank > 0]}, {"type": "fast", "rtol": 1e-3 / (rank + 1)},
                          {"formula": ["exp(-r)", "1/(1+r)"][rank > 0]}, {"precision": ["double", None][rank > 0]}):
            with self.assertRaisesRegex(ValueError, "must be the same on all ranks"):
                shellac.kernelsum(share(x), **arguments)
        with self.assertRaisesRegex(ValueError, "must be the same on all ranks"):
            shellac.kernelsum(share(x), *([share(x)] if rank else []))

    def test_complex_points_and_points_of_another_dimension(self):
        z = rng.random(20) + 1j * rng.random(20)
        with self.assertRaisesRegex(TypeError, "z.real, z.imag"):
            shellac.kernelsum(z)
        x = rng.random((20, 2))
        A = shellac.kernelsum(share(x))
        with functions.temporary(shellac.vector(share(x).ravel())) as v:
            with self.assertRaises(PETSc.Error):
                shellac.MatKernelSumSetPoints(A, v, v)
        self.assertEqual(A.getSize(), (20, 20))

    def test_rows(self):
        if ranks > 1:
            return
        x = rng.random((6, 2))
        A = shellac.kernelsum(x, sigma=0.3)
        g = np.exp(-np.linalg.norm(x[3] - x, axis=1)**2 / 0.18)
        columns, values = A.getRow(3)
        np.testing.assert_allclose(values, g, rtol=1e-14)
        self.assertAlmostEqual(A[3, 1], g[1])

    def test_temporaries_are_destroyed(self):
        A, w = shellac.kernelsum(rng.random((20000 // ranks, 2)), type="fast"), np.ones(20000 // ranks)
        da = PETSc.DMDA().create([300, 300])
        v = da.createGlobalVec()

        def memory():  # [MB]
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096 / 1e6

        for call in (lambda: shellac.multiply(A, w), lambda: shellac.gather(da, v)):
            call()
            before = memory()
            for _ in range(30):
                call()
            self.assertLess(memory() - before, 4)

    def test_a_formula(self):
        x, c = rng.random((29, 3)), rng.random(29)
        r = np.linalg.norm(share(x)[:, None] - x[None], axis=2)
        A = shellac.kernelsum(share(x), formula="exp(-r/sigma)*cos(k*r)", sigma=0.5, wavenumber=2)
        np.testing.assert_allclose(shellac.multiply(A, share(c)), np.exp(-r / 0.5) * np.cos(2 * r) @ c, rtol=1e-12)
        shellac.MatKernelSumSetFormula(A, "r*r")
        np.testing.assert_allclose(shellac.multiply(A, share(c)), r**2 @ c, rtol=1e-12)

    def test_settings_change_later_and_gradients(self):
        x = rng.random((20, 2))
        A = shellac.kernelsum(share(x), sigma=0.5, precision="single", self="zero", type="fast", rtol=1e-3)
        shellac.MatKernelSumSetMethod(A, "direct", PETSc.DEFAULT)
        shellac.MatKernelSumSetPrecision(A, "double")
        shellac.MatKernelSumSetKernel(A, "multiquadric")
        shellac.MatKernelSumSetSigma(A, 0.25)
        c = rng.random(20)
        difference = share(x)[:, None] - x[None]
        r = np.linalg.norm(difference, axis=2)
        g = np.where(r > 0, np.sqrt(r**2 + 0.0625), 0)
        np.testing.assert_allclose(shellac.multiply(A, share(c)), g @ c, rtol=1e-12)
        slopes = np.einsum("ijd,ij,j->id", difference, 1 / np.sqrt(r**2 + 0.0625), c)
        G = shellac.gradient(A)
        np.testing.assert_allclose(shellac.multiply(G, share(c)), slopes, rtol=1e-11, atol=1e-12)
        v = shellac.vector(share(x) + 3)
        shellac.MatKernelSumSetPoints(A, v, v)
        np.testing.assert_allclose(shellac.multiply(A, share(c)), g @ c, rtol=1e-12)


class Burgers(unittest.TestCase):
    def test_a_shock_has_its_speed(self):
        da = PETSc.DMDA().create([200], stencil_width=3)
        ts = PETSc.TS().create()
        ts.setDM(da)
        shellac.burgers(ts, flux="engquist_osher", reconstruct="minmod", bc="inflow", inflow=[1, 0],
                        viscosity=0, lengths=[2.0], fused_scheme="ssprk2", fused_steps=16, check_interval=8)
        self.assertEqual(ts.getType(), "burgersfused")
        u = da.createGlobalVec()
        (start, end), = da.getRanges()
        u.setArray((np.arange(start, end) < 50).astype(float))
        ts.setTimeStep(0.004)
        ts.setMaxTime(1)
        ts.setExactFinalTime(PETSc.TS.ExactFinalTime.MATCHSTEP)
        ts.solve(u)
        self.assertAlmostEqual(u.sum() * 0.01, 0.5 + 0.5, 10)  # the shock has moved by t/2
        self.assertGreater(shellac.TSBurgersGetTimeStepBound(ts, u), 0.004)

    def test_fused_steps_alone_leave_the_scheme_to_the_reconstruction(self):
        options, n = PETSc.Options(), 20 * ranks

        def after_steps(**settings):
            da, ts = PETSc.DMDA().create([n], stencil_width=3, boundary_type="periodic"), PETSc.TS().create()
            ts.setDM(da)
            shellac.burgers(ts, **settings)
            u = da.createGlobalVec()
            (start, end), = da.getRanges()
            u.setArray(np.sin(2 * np.pi * np.arange(start, end) / n))
            ts.setTimeStep(0.2 / n)
            ts.setMaxSteps(8)
            ts.setMaxTime(1e3)
            ts.setExactFinalTime(PETSc.TS.ExactFinalTime.STEPOVER)
            ts.solve(u)
            return ts.getType(), shellac.gather(da, u)

        kind, expected = after_steps(reconstruct="weno5", fused_scheme="ssprk3", fused_steps=4)
        self.assertEqual(kind, "burgersfused")
        for name in ("weno5", "WENO5"):
            kind, state = after_steps(reconstruct=name, fused_steps=4)
            self.assertEqual(kind, "burgersfused")
            np.testing.assert_array_equal(state, expected)
        options["burgers_reconstruct"] = "weno5"
        np.testing.assert_array_equal(after_steps(fused_steps=4)[1], expected)
        options.delValue("burgers_reconstruct")
        _, euler = after_steps(reconstruct="weno5", fused_scheme="euler", fused_steps=4)
        self.assertEqual((euler is None), (rank > 0))
        if rank == 0:
            self.assertGreater(abs(euler - expected).max(), 1e-6)


class Mistakes(unittest.TestCase):
    def test_wrong_arguments_are_errors_that_say_what_is_allowed(self):
        da = PETSc.DMDA().create([8, 8])
        A, K = shellac.laplace(da), shellac.kernelsum(np.zeros((3, 2)))
        ts = PETSc.TS().create()
        empty = PETSc.Mat()
        points, field = np.zeros((3, 2)), da.createGlobalVec()
        cases = [
            (lambda: shellac.laplace(da, boundary="dirichlet"), ValueError, "'eliminated', 'identity', 'neumann'"),
            (lambda: shellac.laplace(da, length=[1, 1]), TypeError,
             "unexpected keyword argument 'length'; use one of mask, wall, boundary"),
            (lambda: shellac.kernelsum(points, method="fast"), TypeError, "'method'; use one of kernel, .*self, type"),
            (lambda: shellac.burgers(ts, boundary="inflow"), TypeError, "'boundary'; use one of flux, reconstruct, bc"),
            (lambda: shellac.vector(["a", "b"]), TypeError, "array of numbers"),
            (lambda: shellac.vector(np.zeros((2, 2, 2))), ValueError, "\\(n, k\\)"),
            (lambda: shellac.laplace(da, lengths=[1]), ValueError, "2-D DMDA needs 2"),
            (lambda: shellac.laplace(da, boundary=["neumann"] * 3), ValueError, "needs 1, for all sides, or 4"),
            (lambda: shellac.laplace(da, boundary=["neumann"] * 3 + ["open"]), ValueError, "'open'; use one of"),
            (lambda: shellac.laplace(da, boundary=3), TypeError, "sequence of names"),
            (lambda: shellac.laplace(da, shape="disc"), ValueError, "'star', 'box'"),
            (lambda: shellac.laplace(da, boundary="robin"), PETSc.Error, "MatLaplaceSetRobin"),
            (lambda: shellac.diffusion(da, "much"), TypeError, "k is 'much'; it must be a number"),
            (lambda: shellac.diffusion(da, np.ones((3, 3))), ValueError,
             "another rank" if rank else "shape \\(3, 3\\); it must be \\(8, 8\\)"),
            (lambda: shellac.diffusion(da, field, mean="geometric"), ValueError, "'harmonic', 'arithmetic'"),
            (lambda: shellac.diffusion(da, 1, wall="glass"), ValueError, "'noflux', 'value'"),
            (lambda: shellac.diffusion(da, 1, mask=1), TypeError, "mask"),
            (lambda: shellac.diffusion(da, 1, mean="arithmetic"), ValueError, "no effect where k is a constant; leave it"),
            (lambda: shellac.diffusion(da, [field] * 2, mean="harmonic"), ValueError, "no effect where k is given on faces"),
            (lambda: shellac.laplace(da, halo="usb"), ValueError,
             "'usb'; use one of 'automatic', 'ipc', 'nccl', 'mpi', 'host'"),
            (lambda: shellac.diffusion(da), TypeError, "diffusion\\(\\): missing a required argument: 'k'"),
            (lambda: shellac.advection_diffusion(da, 1, [1]), PETSc.Error, "give 2"),
            (lambda: shellac.advection_diffusion(da, 1, [1, 0], scheme="quick"), ValueError, "'central', 'upwind'"),
            (lambda: shellac.laplace(da, lengths=[1, -1]), ValueError, "positive"),
            (lambda: shellac.laplace(da, lengths="long"), TypeError, "sequence of numbers"),
            (lambda: shellac.laplace(A), TypeError, "must be a petsc4py.PETSc.DM"),
            (lambda: shellac.helmholtz(da), TypeError, "one of shift and omega"),
            (lambda: shellac.helmholtz(da, shift=1, omega=1), TypeError, "both were given"),
            (lambda: shellac.helmholtz(da, shift="much"), TypeError, "must be a number"),
            (lambda: shellac.kernelsum(np.zeros((3, 4))), ValueError, "dim 1, 2 or 3"),
            (lambda: shellac.kernelsum(points, np.zeros((3, 1))), ValueError, "2 coordinates each, sources 1"),
            (lambda: shellac.kernelsum(points, kernel="bessel"), ValueError, "'gaussian', 'laplace'"),
            (lambda: shellac.kernelsum(points, kernel="laplace", sigma=1), ValueError, "sigma has no effect"),
            (lambda: shellac.kernelsum(points, kernel="helmholtz"), ValueError, "needs its wavenumber"),
            (lambda: shellac.kernelsum(points, formula=2), TypeError, "formula is 2; it must be a string"),
            (lambda: shellac.kernelsum(points, formula="r", sigma=1), ValueError, "sigma has no effect on the formula 'r'"),
            (lambda: shellac.kernelsum(points, formula="r", kernel="laplace"), ValueError, "leave one out"),
            (lambda: shellac.kernelsum(points, formula="r + s"), PETSc.Error, "unknown name, s"),
            (lambda: shellac.kernelsum(points, formula="exp(-r/", sigma=1), PETSc.Error, "what follows is missing"),
            (lambda: shellac.kernelsum(points, rtol=1e-3), ValueError, "rtol has no effect"),
            (lambda: shellac.kernelsum(points, type="fastest"), ValueError, "'direct', 'fast', 'auto'"),
            (lambda: shellac.kernelsum(points, sigma=-1), PETSc.Error, "sigma is -1"),
            (lambda: shellac.kernelsum([["a", "b"]]), TypeError, "array of numbers"),
            (lambda: shellac.kernelsum(np.ma.masked_less(points, 0.5)), TypeError, "targets has masked values"),
            (lambda: shellac.multiply(K, np.ma.masked_equal(np.arange(3.), 1)), TypeError, "weights has masked values"),
            (lambda: shellac.kernelsum(points, formula="exp(-r)\0 + 1"), ValueError, "character 0"),
            (lambda: shellac.MatKernelSumSetFormula(K, "exp(-r)\0 + 1"), ValueError, "character 0"),
            (lambda: shellac.multiply(K, np.ones(5)), ValueError, "must be \\(3,\\)"),
            (lambda: shellac.multiply(K, 1j * np.ones(3)), TypeError, "complex"),
            (lambda: shellac.stencilmg(PETSc.PC().create(), smooth=2), TypeError, "smooths"),
            (lambda: shellac.burgers(ts, flux="upwind"), ValueError, "'godunov'"),
            (lambda: shellac.burgers(da), TypeError, "PETSc.TS"),
            (lambda: shellac.burgers(ts, fused_scheme="rk4"), ValueError, "'rk4'; use one of 'euler', 'ssprk2', 'ssprk3'"),
            (lambda: shellac.burgers(ts, fused_steps=2**64 + 5), ValueError, "is 18446744073709551621; .* from -"),
            (lambda: shellac.burgers(ts, fused_steps=1.5), TypeError, "fused_steps is 1.5; it must be an integer"),
            (lambda: shellac.burgers(ts, fused_steps=np.inf), TypeError, "fused_steps is inf; it must be an integer"),
            (lambda: shellac.TSBurgersSetCheckInterval(ts, 2**64), ValueError, "interval is 18446744073709551616; "),
            (lambda: shellac.MatHelmholtzSetShift(empty, 1), ValueError, "not been created"),
            (lambda: shellac.MatKernelSumSetSigma(K), TypeError, "2 arguments \\(A, sigma\\)"),
            (lambda: shellac.MatKernelSumSetKernel(K, 3), TypeError, "string"),
            (lambda: shellac.gradient(A), PETSc.Error, "not a kernelsum"),
        ]
        for call, error, words in cases:
            with self.subTest(words=words):
                with self.assertRaisesRegex(error, words):
                    call()

    def test_an_error_on_one_rank_is_one_on_all(self):
        last = rank == ranks - 1
        da = PETSc.DMDA().create([8, 8])
        K, v = shellac.kernelsum(np.zeros((3, 2))), da.createGlobalVec()
        H, ts, pc = shellac.helmholtz(da, shift=1), PETSc.TS().create(), PETSc.PC().create()
        other = PETSc.Vec().createMPI((64 if last else 0, None)) if ranks > 1 else PETSc.Vec().createMPI(63)
        calls = [
            lambda: shellac.kernelsum(np.zeros((3, 4 if last else 3))),
            lambda: shellac.vector(["a"] if last else [1.0]),
            lambda: shellac.vector([[1, 2], [3]] if last else [1.0]),
            lambda: shellac.vector(1j * np.ones(2) if last else np.ones((2, 2, 2))),
            lambda: shellac.multiply(K, ["a", "b", "c"] if last else np.ones(3)),
            lambda: shellac.multiply(K, np.ones(4 if last else 3)),
            lambda: shellac.gather(da, K if last else v),
            lambda: shellac.gather(da, other),
            lambda: shellac.laplace(da, lengths=[1, -1] if last else [1, 1]),
            lambda: shellac.laplace(da, boundary="open" if last else "neumann"),
            lambda: shellac.laplace(da, **({"length": [1, 1]} if last else {})),
            lambda: shellac.laplace(da, halo="usb" if last else "host"),
            lambda: shellac.diffusion(*((da,) if last else (da, 1))),
            lambda: shellac.advection_diffusion(da, "much" if last else 1, [1, 0]),
            lambda: shellac.helmholtz(da, shift=1, omega=1 if last else None),
            lambda: shellac.helmholtz(da, omega="fast" if last else 1),
            lambda: shellac.kernelsum(np.zeros((3, 2)), **({"method": "fast"} if last else {})),
            lambda: shellac.right_hand_side(H, 3 if last else lambda x: 1),
            lambda: shellac.burgers(ts, flux="upwind" if last else "godunov"),
            lambda: shellac.burgers(ts, viscosity="little" if last else 0),
            lambda: shellac.burgers(ts, **({"boundary": "inflow"} if last else {})),
            lambda: shellac.stencilmg(pc, **{"smoothe" if last else "smooths": 1}),
            lambda: shellac.MatHelmholtzSetShift(H, "much" if last else 1),
            lambda: shellac.MatHelmholtzSetShift(*((H,) if last else (H, 1))),
            lambda: shellac.MatLaplaceSetLengths(H, "long" if last else [1, 1]),
            lambda: shellac.MatKernelSumSetSigma(K, None if last else 1),
            lambda: shellac.MatKernelSumSetPrecision(K, "half" if last else "single"),
            lambda: shellac.ShellacSetHaloTimeout("long" if last else 300),
        ]
        if ranks > 1:
            calls += [lambda: shellac.vector(np.zeros((2, 3 if last else 2))),
                      lambda: shellac.kernelsum(np.zeros((2, 3 if last else 2))),
                      lambda: shellac.laplace(da, lengths=[1, 1] if last else None),
                      lambda: shellac.diffusion(da, v if last else 1),
                      lambda: shellac.burgers(ts, speed=1 if last else 2),
                      lambda: shellac.stencilmg(pc, smooths=1 if last else 2)]
        for n, call in enumerate(calls):
            with self.subTest(call=n):
                with self.assertRaises((TypeError, ValueError)):
                    call()
                v.norm()  # in which no rank waits for one that is still in the call

    def test_what_is_not_collective_is_called_by_one_rank(self):
        H = shellac.helmholtz(PETSc.DMDA().create([8, 8]), shift=3)
        if rank == 0:
            self.assertEqual(shellac.MatHelmholtzGetShift(H), 3)


class Interface(unittest.TestCase):
    def test_complex_numbers_have_the_precision_of_petsc(self):
        for real, scalar in ((np.float32, np.complex64), (np.float64, np.complex128)):
            petsc = types.SimpleNamespace(RealType=real, ScalarType=scalar)
            with unittest.mock.patch.object(functions, "_petsc", lambda: petsc):
                made = functions.number(1 - 2j, "PetscScalar", "z")
                self.assertEqual(bytes(made), scalar(1 - 2j).tobytes())
                self.assertEqual(functions._result("PetscScalar", made, None), 1 - 2j)

    def test_every_c_function_is_there_with_its_manual_page(self):
        headers = pathlib.Path(__file__).resolve().parents[2] / "include"
        declared = re.findall(r"PETSC_EXTERN PetscErrorCode (\w+)\(", "".join(p.read_text() for p in headers.rglob("*.h")))
        self.assertGreater(len(declared), 20)
        arrays_of_fixed_length = {"MatStencilShellGetSlot", "MatStencilShellRestoreSlot", "DMDAEquationGetSpacing",
                                  "DMDAEquationGetCoordinates"}
        for name in declared:
            if name in arrays_of_fixed_length:
                self.assertFalse(hasattr(shellac, name), f"{name} is in the package")
            elif not name.startswith(("MatCreate", "DMDACreate", "ShellacInitialize")):
                self.assertTrue(hasattr(shellac, name), f"{name} is not in the package")
                self.assertRegex(getattr(shellac, name).__doc__, "(In|Out)put Parameter")
                self.assertIn(name, shellac.__all__)


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], exit=False, verbosity=1 if rank == 0 else 0)
    failed = PETSc.Vec().createMPI((1, None))
    failed.set(0 if program.result.wasSuccessful() else 1)
    sys.exit(1 if failed.max()[1] else 0)
