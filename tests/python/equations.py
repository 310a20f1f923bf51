"""Equations as text from Python, on any number of ranks, beside finite differences of NumPy's own."""

import pathlib
import sys
import tempfile
import unittest

import numpy as np
import petsc4py

petsc4py.init(sys.argv[:1])
import shellac
from petsc4py import PETSc

rank, ranks = PETSc.COMM_WORLD.getRank(), PETSc.COMM_WORLD.getSize()
rng = np.random.default_rng(1)  # the same numbers on all ranks
BRATU = "parameter(lambda)\nresidual = -laplacian(u) - lambda * exp(u)"
DIFFUSION = "field(k)\nparameter(sigma, 1)\nresidual = -d(k, u) + sigma * u - 1"
GALLERY = pathlib.Path(__file__).resolve().parents[2] / "examples" / "equations"


def grid(*n, **more):
    return PETSc.DMDA().create(n, stencil_width=1, **more)


def everywhere(da, v):
    """A grid's values as one array on all ranks."""
    to_all, everything = PETSc.Scatter.toAll(v)
    natural = da.createNaturalVec()
    da.globalToNatural(v, natural)
    to_all.scatter(natural, everything)
    shape = tuple(reversed(da.getSizes())) + ((da.getDof(),) if da.getDof() > 1 else ())
    return everything.getArray().reshape(shape).copy()


def laplacian(u, h, mode="constant"):
    """Second differences of u[y, x]; beyond the ends it is zero ("constant"), or as at the end ("edge")."""
    v = np.pad(u, 1, mode=mode)
    return ((v[1:-1, 2:] + v[1:-1, :-2] - 2 * u) / h[0] ** 2 + (v[2:, 1:-1] + v[:-2, 1:-1] - 2 * u) / h[1] ** 2)


def diffusion(k, u, h):
    """div(k grad u) of u[y, x], zero beyond the ends; harmonic means of k, which is extrapolated beyond them."""
    def beyond(last, before):
        slope = (last - before) / (last + before)
        return last * (1 + slope * (1 - slope**2))
    result = np.zeros_like(u)
    for axis in (0, 1):
        pad = [(1, 1) if a == axis else (0, 0) for a in (0, 1)]
        n, at = k.shape[axis], lambda places: k.take(places, axis)
        faces = np.concatenate([beyond(at([0]), at([1])), 2 / (1 / at(range(n - 1)) + 1 / at(range(1, n))),
                                beyond(at([-1]), at([-2]))], axis)
        flux = faces * np.diff(np.pad(u, pad), axis=axis) / h[1 - axis]
        result += np.diff(flux, axis=axis) / h[1 - axis]
    return result


class Steady(unittest.TestCase):
    def test_bratu_has_no_residual_in_numpy_and_follows_its_parameter(self):
        da, h = grid(17, 13), (1 / 18, 1 / 14)
        eq = shellac.Equation(da, BRATU, lambda_=5, options={"snes_rtol": 1e-12})
        self.assertFalse(eq.linear or eq.has_rate or eq.has_exact)
        largest = []
        for value in (5, 2):
            eq["lambda"] = value
            self.assertEqual((eq["lambda"], eq.parameters, eq.fields), (value, {"lambda": value}, []))
            u = everywhere(da, eq.solve())
            largest.append(u.max())
            self.assertLess(abs(-laplacian(u, h) - value * np.exp(u)).max(), 1e-8)
        self.assertGreater(largest[0], 2 * largest[1])
        self.assertIn("nonlinear residual on 17 x 13 points, lambda = 2", repr(eq))

    def test_newtons_method_takes_a_jacobian_without_a_matrix_and_stencilmg(self):
        da = grid(31, 31)
        da.setMatType("stencil")
        eq = shellac.Equation(da, BRATU, lambda_=6, options={"snes_rtol": 1e-12})
        shellac.stencilmg(eq.snes.getKSP())
        u = everywhere(da, eq.solve())
        self.assertEqual(eq.snes.getJacobian()[0].getType(), "stencil")
        self.assertLess(eq.snes.getLinearSolveIterations(), 40)
        self.assertLess(abs(-laplacian(u, (1 / 32, 1 / 32)) - 6 * np.exp(u)).max(), 1e-7)

    def test_options_name_the_types_of_the_grid(self):
        solutions = []
        for mat_type in ("aij", "stencil", "equation"):
            eq = shellac.Equation(grid(8, 6), BRATU, lambda_=2, options={
                "dm_mat_type": mat_type, "pc_type": "jacobi", "ksp_rtol": 1e-10, "snes_rtol": 1e-10})
            solutions.append(shellac.gather(eq.da, eq.solve()))
            self.assertIn(mat_type, eq.snes.getJacobian()[0].getType())
        if rank == 0:
            np.testing.assert_allclose(solutions[1], solutions[0], rtol=1e-8)
            np.testing.assert_allclose(solutions[2], solutions[0], rtol=1e-8)

    def test_a_linear_equation_with_a_field_is_numpys_matrix(self):
        da, h = grid(9, 7), (1 / 10, 1 / 8)
        k, x = 1 + 9 * rng.random((7, 9)), rng.random((7, 9))
        eq = shellac.Equation(da, DIFFUSION, k=k, sigma=3)
        self.assertTrue(eq.linear)
        expected = lambda k, sigma, u: -diffusion(k, u, h) + sigma * u
        columns = np.eye(63).reshape(63, 7, 9)
        dense = lambda k, sigma: np.stack([expected(k, sigma, e).ravel() for e in columns], axis=1)
        vector = shellac.scatter(da, k * k)
        for kind, value, array in (("array", k, k), ("vector", vector, k * k), ("number", 2, np.full((7, 9), 2.0)),
                                   ("list", k.tolist(), k), ("rows", k[:1], np.broadcast_to(k[:1], (7, 9)))):
            with self.subTest(kind=kind):
                eq.set(k=value, sigma=4)
                np.testing.assert_allclose(everywhere(da, eq.mat() * shellac.scatter(da, x)), expected(array, 4, x),
                                           rtol=1e-11)
                np.testing.assert_allclose(everywhere(da, eq.evaluate(x)), expected(array, 4, x) - 1, rtol=1e-11)
                u = eq.solve()
                np.testing.assert_allclose(everywhere(da, u).ravel(), np.linalg.solve(dense(array, 4), np.ones(63)),
                                           rtol=1e-6)
                self.assertEqual(eq.snes.getIterationNumber(), 1)

    def test_derivatives_by_parameters_and_fields(self):
        da = grid(6, 5)
        k, x, d = rng.random((5, 6)), rng.random((5, 6)), rng.random((5, 6))
        eq = shellac.Equation(da, "parameter(a, 2)\nparameter(b, 3)\nfield(k)\nresidual = a*k*u^2 - b*k^3", k=k)
        by_all, by_b, by_k = eq.derivative(x), eq.derivative(x, "b"), eq.derivative(x, "k")
        for p, (of, expected) in enumerate(((by_all, k * x * x), (by_all, -k**3), (by_b, -k**3))):
            v = of.createVecRight()
            for i in range(*v.getOwnershipRange()):
                v[i] = of is by_b or i == p
            v.assemble()
            np.testing.assert_allclose(everywhere(da, of * v), expected, rtol=1e-13)
        slope = 2 * x * x - 9 * k * k
        np.testing.assert_allclose(everywhere(da, by_k * shellac.scatter(da, d)), slope * d, rtol=1e-12)
        back = by_k.createVecRight()
        by_k.multTranspose(shellac.scatter(da, d), back)
        np.testing.assert_allclose(everywhere(da, back), slope * d, rtol=1e-12)

    def test_coordinates_make_a_field_and_are_those_of_the_text(self):
        for n in ((8,), (5, 4), (4, 3, 5)):
            da = grid(*n)
            stretch = "stretch(x, geometric, 3)\n" if len(n) == 2 else ""
            eq = shellac.Equation(da, stretch + "field(k)\nresidual = u - k\ninitial = " + " + ".join(
                f"{a + 1} * {'xyz'[a]} * {'xyz'[a]}" for a in range(len(n))))
            axes = eq.coordinates()
            self.assertEqual([a.size for a in axes], list(n))
            values = sum((a + 1) * c * c for a, c in enumerate(axes))
            self.assertEqual(values.shape, n[::-1])
            eq["k"] = values
            np.testing.assert_allclose(everywhere(da, eq.initial()), values, rtol=1e-14)
            np.testing.assert_allclose(everywhere(da, eq.solve()), values, rtol=1e-8)

    def test_a_residual_is_that_of_the_time(self):
        da = grid(5, 4)
        eq = shellac.Equation(da, "residual = u - t")
        zero = np.zeros((4, 5))
        np.testing.assert_allclose(everywhere(da, eq.evaluate(zero, time=3)), -3)
        self.assertEqual(eq.time, 0)
        np.testing.assert_allclose(everywhere(da, eq.evaluate(zero)), 0)
        eq.time = 2
        np.testing.assert_allclose(everywhere(da, eq.solve()), 2, rtol=1e-8)
        shellac.DMDAEquationSetTime(da, 5.0)  # by its C name
        self.assertEqual(eq.time, 5)
        np.testing.assert_allclose(everywhere(da, eq.evaluate(zero)), -5)

    def test_errors_beside_an_exact_solution_are_of_second_order(self):
        errors = []
        for n in (15, 31):
            eq = shellac.Equation(grid(n, n), GALLERY / "poisson.h", options={"ksp_rtol": 1e-11, "snes_rtol": 1e-11})
            self.assertTrue(eq.has_exact and eq.linear)
            u = eq.solve()
            errors.append(eq.error(u))
            exact, (x, y) = everywhere(eq.da, eq.exact()), eq.coordinates()
            np.testing.assert_allclose(exact, np.sin(np.pi * x) * np.sin(2 * np.pi * y) * np.exp(x * y) + x, rtol=1e-10)
            self.assertAlmostEqual(errors[-1], abs(exact - everywhere(eq.da, u)).max(), 14)
        self.assertAlmostEqual(np.log2(errors[0] / errors[1]), 2, delta=0.1)

    def test_options_of_the_database_win_and_a_prefix_keeps_them_apart(self):
        given = PETSc.Options("my_")
        given["snes_max_it"] = 7
        eq = shellac.Equation(grid(9, 9), BRATU, lambda_=1, prefix="my_",
                              options={"-snes_max_it": 5, "snes_type": "newtontr"})
        self.assertEqual((eq.snes.max_it, eq.snes.getType()), (7, "newtontr"))
        self.assertFalse(given.hasName("snes_type"))
        given.delValue("snes_max_it")

    def test_grid_sequencing_ends_on_a_finer_grid_again_and_again(self):
        eq = shellac.Equation(grid(9, 9), str(GALLERY / "bratu.h"), lambda_=2, options={"snes_grid_sequence": 1})
        for times in range(2):
            u = eq.solve()
            self.assertEqual(eq.snes.getDM().getSizes(), (17, 17))
            values = everywhere(eq.snes.getDM(), u)
            inner = laplacian(values, (1 / 16, 1 / 16))[1:-1, 1:-1] + 2 * np.exp(values[1:-1, 1:-1])
            self.assertLess(abs(inner).max(), 1e-3)


class InTime(unittest.TestCase):
    TEXT = """
        unknowns(u, v)
        parameter(D, 0.1)
        field(F)
        neumann(sides) = 0
        rate(u) = D * laplacian(u) - u * v * v + F * (1 - u)
        rate(v) = D / 2 * laplacian(v) + u * v * v - F * v
        initial(u) = 1 - x * y
        initial(v) = x * y
    """

    def rate(self, F, w, h):
        u, v = w[..., 0], w[..., 1]
        return np.stack([0.1 * laplacian(u, h, "edge") - u * v * v + F * (1 - u),
                         0.05 * laplacian(v, h, "edge") + u * v * v - F * v], axis=-1)

    def test_two_unknowns_step_as_in_numpy(self):
        da, h = grid(10, 8, dof=2), (1 / 10, 1 / 8)
        F = rng.random((8, 10))
        eq = shellac.Equation(da, self.TEXT, F=F, options={"ts_type": "euler"})
        self.assertTrue(eq.has_rate)
        x, y = eq.coordinates()
        w = np.stack([1 - x * y, x * y], axis=-1)
        np.testing.assert_allclose(everywhere(da, eq.initial()), w, rtol=1e-13)
        np.testing.assert_allclose(everywhere(da, eq.evaluate(w)), self.rate(F, w, h), rtol=1e-10, atol=1e-10)
        state = eq.solve(until=0.01, dt=0.001)
        for step in range(25):
            if step == 10:
                np.testing.assert_allclose(everywhere(da, state), w, rtol=1e-11)
                state = eq.solve(state, until=0.025)  # goes on
                self.assertAlmostEqual(eq.ts.getTime(), 0.025, 14)
            w = w + 0.001 * self.rate(F, w, h)
        np.testing.assert_allclose(everywhere(da, state), w, rtol=1e-11)
        again = eq.solve(until=0.025)  # from the beginning
        np.testing.assert_allclose(everywhere(da, again), w, rtol=1e-11)

    def test_a_solution_goes_on_from_a_time_between_steps(self):
        eq = shellac.Equation(grid(5, 6), "neumann(sides) = 0\ninitial = 1\nrate = laplacian(u) - 2*t*u", options={
            "ts_type": "rk", "ts_adapt_type": "none", "ts_exact_final_time": "interpolate"})
        u = eq.solve(until=0.105, dt=0.01)
        self.assertAlmostEqual(eq.time, 0.105, 14)
        u = eq.solve(u, until=0.2, dt=0.01)
        np.testing.assert_allclose(everywhere(eq.da, u), np.exp(-0.04), rtol=2e-4)

    def test_an_option_for_the_time_step_wins_by_either_name(self):
        options = PETSc.Options("step_")
        for name in ("ts_dt", "ts_time_step"):
            options[name] = 0.0025
            eq = shellac.Equation(grid(10, 8, dof=2), self.TEXT, F=0.1, prefix="step_", options={"ts_type": "euler"})
            eq.solve(until=0.01, dt=0.0005)
            self.assertLess(eq.ts.getStepNumber(), 20)
            options.delValue(name)

    def test_error_beside_an_exact_solution_is_at_the_time_that_is_reached(self):
        eq = shellac.Equation(grid(8, 8, 8), GALLERY / "allen_cahn.h", options={"ts_adapt_type": "none"})
        u = eq.solve(until=0.5, dt=0.01)
        self.assertLess(eq.error(u), 0.02)
        self.assertGreater(eq.error(u, time=0), 0.3)


class Mistakes(unittest.TestCase):
    def check(self, cases):
        for call, error, words in cases:
            with self.subTest(words=words):
                with self.assertRaisesRegex(error, words):
                    call()

    def test_wrong_arguments_are_errors_that_say_what_is_allowed(self):
        new = lambda text=DIFFUSION, **values: shellac.Equation(grid(8, 6), text, **values)
        eq = new(k=1)
        rate = new("rate = laplacian(u)")
        self.check([
            (lambda: shellac.Equation(None, DIFFUSION), TypeError, "must be a petsc4py.PETSc.DM"),
            (lambda: new(3), TypeError, "text is 3; it must be a string, or the path"),
            (lambda: new("nowhere.h"), PETSc.Error, "'nowhere.h' cannot be read.*give the path"),
            (lambda: new(pathlib.Path("nowhere=.h")), PETSc.Error, "'nowhere=.h' cannot be read"),
            (lambda: new(prefix=3), TypeError, "prefix is 3"),
            (lambda: new(options="-snes_monitor"), TypeError, "must be a dictionary"),
            (lambda: new(options={"da_grid_x": 3}), ValueError, "da_grid_x is for the making of a grid"),
            (lambda: new(mu=1), TypeError, "'mu'; the equation's parameters are: sigma; its fields are: k"),
            (lambda: eq.set(lambda_=1), TypeError, "'lambda_'; the equation's parameters are: sigma"),
            (lambda: eq.__setitem__("mu", 1), TypeError, "'mu'; the equation's parameters are: sigma"),
            (lambda: eq["mu"], PETSc.Error, "no parameter 'mu'; its parameters are: sigma"),
            (lambda: eq.set(sigma="much"), TypeError, "sigma is 'much'; it must be a number"),
            (lambda: eq.set(sigma=np.ones(3)), TypeError, "it must be a number"),
            (lambda: eq.set(sigma=np.nan), ValueError, "sigma is nan; it must be finite"),
            (lambda: eq.set(k="much"), (TypeError, ValueError),
             "another rank" if rank else "k is 'much'; it must be a vector, an array of numbers"),
            (lambda: eq.set(k=PETSc.Vec()), ValueError, "not been created"),
            (lambda: eq.set(k=PETSc.Vec().createMPI(7)), PETSc.Error, "7 values, is not one of the DMDA's vectors"),
            (lambda: new("residual = -laplacian(w)"), PETSc.Error, "equation:1:.*'?w.*\n.*residual = -laplacian\\(w\\)"),
            (lambda: new("residual = u(2, 0)"), PETSc.Error, "state grid.2, box, 2"),
            (lambda: new("unknowns(u, v)\nresidual(u) = u\nresidual(v) = v"), PETSc.Error, "dof 2"),
            (lambda: new().solve(), PETSc.Error, "equation:1: the field k has no values"),
            (lambda: new(BRATU).solve(), PETSc.Error, "lambda has no value; give -equation_lambda"),
            (lambda: new(BRATU, lambda_=1).mat(), PETSc.Error, "not linear"),
            (lambda: new(BRATU, lambda_=99).solve(), RuntimeError, "not converge: DIVERGED_.*try"),
            (lambda: new("residual = log(u - 1)").solve(), PETSc.Error, "equation:1: the residual"),
            (lambda: new("field(k) = 1\nresidual = -d(k, u)\nexact = x", k=2), PETSc.Error,
             "exact solution, which needs fields by formula"),
            (lambda: eq.error(eq.initial()), PETSc.Error, "no exact solution; add exact = "),
            (lambda: eq.error(3), TypeError, "must be a petsc4py.PETSc.Vec"),
            (lambda: eq.ts, ValueError, "use snes"),
            (lambda: rate.snes, ValueError, "use ts"),
            (lambda: eq.solve(until=1), TypeError, "are for a rate"),
            (lambda: rate.solve(), TypeError, "give until=, or the option -ts_max_time"),
            (lambda: rate.solve(until="late"), TypeError, "until is 'late'"),
        ])
        self.assertEqual((eq["sigma"], eq.fields), (1, ["k"]))

    def test_an_array_of_the_first_rank_is_an_error_on_all(self):
        da = grid(8, 6)
        eq = shellac.Equation(da, DIFFUSION, k=1)
        on_first = lambda bad, good: bad if rank == 0 else good
        words = lambda text: text if rank == 0 else "another rank"
        for bad, text in ((np.ones((8, 6)), "shape \\(8, 6\\); it must be \\(6, 8\\)"), (np.ones(48), "shape \\(48,\\)"),
                          (np.ones((6, 8, 1)), "shape"), (np.full((6, 8), np.inf), "not finite"),
                          (1j * np.ones((6, 8)), "complex"), ("much", "an array of numbers or a number")):
            for call in (lambda: eq.set(k=on_first(bad, 1)), lambda: eq.solve(on_first(bad, 0)),
                         lambda: shellac.scatter(da, on_first(bad, None))):
                with self.assertRaisesRegex((TypeError, ValueError), words(text)):
                    call()

    @unittest.skipIf(ranks == 1, "ranks can differ where there are several")
    def test_ranks_that_differ_are_an_error_on_all(self):
        da, last = grid(8, 6), rank == ranks - 1
        eq = shellac.Equation(da, DIFFUSION, k=1)
        v = da.createGlobalVec()
        for call in (lambda: eq.set(sigma=2 if last else 3), lambda: eq.set(k=v if last else 1),
                     lambda: eq.set(**({"sigma": 2} if last else {"k": 2})), lambda: eq.set(sigma="much" if last else 1),
                     lambda: shellac.Equation(da, 3 if last else DIFFUSION)):
            with self.assertRaises((TypeError, ValueError)):
                call()
        self.assertEqual(eq["sigma"], 1)


class OwnGrid(unittest.TestCase):
    def test_a_text_makes_the_grid_that_it_needs(self):
        eq = shellac.Equation("""
            unknowns(u, v)
            periodic(x)
            residual(u) = u - laplacian(v)
            residual(v) = v - sin(2*pi*x)*y
        """, shape=(9, 14), options={"dm_mat_type": "stencil"})
        self.assertEqual((eq.da.getSizes(), eq.da.getDof(), eq.da.createMat().getType()), ((14, 9), 2, "stencil"))
        x, y = eq.coordinates()
        self.assertLess(np.abs(everywhere(eq.da, eq.solve())[..., 1] - np.sin(2 * np.pi * x) * y).max(), 1e-6)
        self.assertEqual(shellac.Equation("residual = u").da.getSizes(), (65, 65))
        self.assertEqual(shellac.Equation("residual = u - z", shape=(4, 3, 5)).da.getSizes(), (5, 3, 4))

    def test_the_solution_is_that_on_a_grid_of_ones_own(self):
        k = 1 + rng.random((13, 17))
        u = everywhere(grid(17, 13), shellac.Equation(grid(17, 13), DIFFUSION, k=k).solve())
        eq = shellac.Equation(DIFFUSION, shape=(13, 17), k=k)
        self.assertLess(np.abs(everywhere(eq.da, eq.solve()) - u).max(), 1e-9 * np.abs(u).max())
        eq = shellac.Equation(GALLERY / "bratu.h", shape=(33,) * 2, lambda_=5)
        self.assertEqual(eq.da.getSizes(), (33, 33))

    def test_wrong_shapes_are_errors_on_all_ranks(self):
        for call, error, words in (
                (lambda: shellac.Equation("residual = u", shape=(0, 3)), ValueError, "shape is \\(0, 3\\); it must be"),
                (lambda: shellac.Equation("residual = u", shape=7), ValueError, "shape is 7; it must be"),
                (lambda: shellac.Equation(grid(5, 5), "residual = u", shape=(5, 5)), TypeError, "leave it out"),
                (lambda: shellac.Equation("grid(2)\nresidual = u", shape=(5,)), PETSc.Error, "of 1 axes.*is for 2"),
                (lambda: shellac.Equation(GALLERY / "missing.h"), OSError, "missing.h"),
                (lambda: shellac.Equation(3), TypeError, "text is 3")):
            with self.assertRaisesRegex(error, words):
                call()


class Arrays(unittest.TestCase):
    def test_scatter_is_the_inverse_of_gather(self):
        for n, dof in (((7,), 1), ((5, 6), 2), ((4, 3, 5), 3)):
            da = grid(*n, dof=dof)
            v = da.createGlobalVec()
            v.setRandom()
            w = shellac.scatter(da, shellac.gather(da, v))
            w -= v
            self.assertEqual(w.norm(), 0)


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], exit=False, verbosity=1 if rank == 0 else 0)
    failed = PETSc.Vec().createMPI((1, None))
    failed.set(0 if program.result.wasSuccessful() else 1)
    sys.exit(1 if failed.max()[1] else 0)
