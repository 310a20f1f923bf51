"""Equations as text on a DMDA, and the solvers that they need."""

import ctypes
import os
import pathlib
import textwrap

import numpy

from . import functions as c
from . import grids
from .functions import _petsc
from .operators import check_dmda


def _call(name, *arguments):
    return c.define()[name](*arguments)


def _sizes(shape, what):
    """Points along each axis, x first, of arrays of that shape."""
    try:
        sizes = [int(n) for n in shape]
        if list(shape) != sizes or not 1 <= len(sizes) <= 3 or min(sizes) < 1:
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(f"{what}: shape is {shape!r}; it must be (nx,), (ny, nx) or (nz, ny, nx)") from None
    return sizes[::-1]


class Equation:
    """An equation as a text on a grid, and its solvers::

        eq = shellac.Equation('''
            parameter(lambda)
            field(k)
            residual = -d(k, u) - lambda * exp(u)
        ''', shape=(65, 65), lambda_=2, k=1 + numpy.random.rand(65, 65))
        u = eq.solve()
        values = shellac.gather(eq.da, u)   # a NumPy array, on the first rank

    On a grid of your own: ``shellac.Equation(da, text, ...)``.

    The manual's page on equations says what a text can state. A ``residual`` is zero in the solution: `solve` uses
    `snes`. A ``rate`` is du/dt: `solve` uses `ts`, to the time ``until``. Solvers take PETSc's options.

    Parameters
    ----------
    da : PETSc.DMDA, optional
        The grid, set up, with the equation's number of unknowns at a point and a stencil that is wide enough. It keeps
        the equation; another Equation on the same grid replaces it. Without it the text makes one, on all ranks.
    shape : tuple, optional
        The shape of the grid's arrays, (nx,), (ny, nx) or (nz, ny, nx), where the text makes the grid. The default is
        65 points along each axis, 33 in three dimensions.
    text : str or path
        The text. A string without an equals sign, or a ``pathlib.Path``, is the path of a file, which the first rank
        reads.
    prefix : str, optional
        Prefix of the solvers' options.
    options : dict, optional
        Options of the solvers without their dash, ``{"snes_rtol": 1e-10, "pc_type": "mg"}``; the value True for an
        option that has none; of the grid ``dm_mat_type`` and ``dm_vec_type``. Options of the command line override them.
    **values
        Parameters and fields by their names, as for `set`.

    Raises
    ------
    PETSc.Error
        A text that cannot be read or compiled, with its line; a grid that does not fit.
    TypeError, ValueError
        Wrong arguments. As all errors, on all ranks.

    Attributes
    ----------
    da : PETSc.DMDA
        The grid.
    """

    def __init__(self, da, text=None, /, *, shape=None, prefix=None, options=None, **values):
        what = "shellac.Equation()"
        made = text is None
        if made:
            da, text = None, da
        else:
            check_dmda(da, what)
        problem, function, sizes = None, "DMDASetEquation", ()
        try:
            if not isinstance(text, (str, os.PathLike)):
                raise TypeError(f"{what}: text is {text!r}; it must be a string, or the path of a file")
            if not isinstance(prefix, (str, type(None))):
                raise TypeError(f"{what}: prefix is {prefix!r}; it must be a string")
            if not isinstance(options, (dict, type(None))):
                raise TypeError(f"{what}: options is {options!r}; it must be a dictionary, as {{'snes_rtol': 1e-10}}")
            options = {key.lstrip("-"): value for key, value in (options or {}).items()}
            for key in options:
                if key.startswith(("dm_", "da_", "equation")) and key not in ("dm_mat_type", "dm_vec_type"):
                    raise ValueError(f"{what}: the option {key} is for the making of a grid or of its equation; set it "
                                     "before, or give it on the command line")
            if shape is not None and not made:
                raise TypeError(f"{what}: shape is {shape!r}; leave it out where a grid is given, or leave the grid out")
            if shape is not None:
                sizes = _sizes(shape, what)
            if isinstance(text, os.PathLike) or "=" not in text:
                text, function = os.fspath(text), "DMDASetEquationFromFile"
                if made:
                    text = pathlib.Path(text).read_text()
            else:
                text = textwrap.dedent(text)  # a line with more white space than others goes on
        except (TypeError, ValueError, OSError) as error:
            problem = error
        c.agree(_petsc().COMM_WORLD if made else da.comm, problem)
        if made:
            da = c.grid_of_equation(text, sizes)
        for key, set_type in (("dm_mat_type", da.setMatType), ("dm_vec_type", da.setVecType)):
            value = options.pop(key, None)
            if value is not None and not _petsc().Options(da.getOptionsPrefix()).hasName(key):
                set_type(value)
        if not made:
            _call(function, da, text)
        self.da = da
        self._prefix = prefix or ""
        self._options = options
        self._snes = self._ts = self._dt = None
        self._set(what, values)

    # ---- the equation -----------------------------------------------------------------------------------------------

    @property
    def linear(self):
        """Whether the equation is linear in its unknowns, with the present parameters."""
        return _call("DMDAEquationGetLinear", self.da)

    @property
    def has_rate(self):
        """Whether the text states a rate, du/dt, rather than a residual."""
        return _call("DMDAEquationIsRate", self.da)

    @property
    def has_exact(self):
        """Whether the text states an exact solution."""
        return _call("DMDAEquationHasExact", self.da)

    @property
    def parameters(self):
        """A dictionary of the parameters' values. To change one: ``eq.set(name=value)`` or ``eq["name"] = value``."""
        return {name: self[name] for name in _call("DMDAEquationGetNames", self.da)[0]}

    @property
    def fields(self):
        """A list of the fields' names."""
        return _call("DMDAEquationGetNames", self.da)[1]

    def set(self, **values):
        """Sets parameters and fields by their names: ``eq.set(k=array, lambda_=7)``. Solvers follow.

        Parameters
        ----------
        **values
            A number for a parameter, the same on all ranks. For a field a vector of the grid, of one value at a point;
            or the first rank's NumPy array of shape (nx,), (ny, nx) or (nz, ny, nx), with 1 for an axis along which the
            values are equal; or a number. Values are copied. A name that Python reserves takes a trailing underscore;
            ``eq["lambda"] = 7`` does without.

        Raises
        ------
        TypeError, ValueError
            An unknown name, another shape, values that are not finite. Nothing is changed then.
        PETSc.Error
            A vector of another grid; a field where the text has an exact solution.
        """
        self._set("shellac.Equation.set()", values)

    def __setitem__(self, name, value):
        self._set("shellac.Equation", {name: value})

    def __getitem__(self, name):
        return _call("DMDAEquationGetParameter", self.da, name)

    def _set(self, what, values):
        parameters, fields = _call("DMDAEquationGetNames", self.da)
        if self.da.getDof() == 1:
            self._set_on(self.da, what, values, parameters, fields)
        else:
            with c.temporary(self.da.duplicate(dof=1)) as points:
                self._set_on(points, what, values, parameters, fields)

    def _set_on(self, points, what, values, parameters, fields):
        first = self.da.comm.getRank() == 0
        numbers, vectors, arrays, problem = {}, {}, {}, None
        try:
            for key, value in values.items():
                name = key[:-1] if key.endswith("_") and key not in parameters + fields else key
                argument = f"{what}: {name}"
                if name in parameters:
                    numbers[name] = c.number(value, "PetscReal", argument).value
                    if not numpy.isfinite(numbers[name]):
                        raise ValueError(f"{argument} is {value!r}; it must be finite")
                elif name not in fields:
                    raise TypeError(
                        f"{what} got an unexpected keyword argument {key!r}; the equation's parameters are: "
                        f"{', '.join(parameters) or 'none'}; its fields are: {', '.join(fields) or 'none'}")
                elif isinstance(value, _petsc().Vec):
                    vectors[name] = value
                    c.handle(value, "Vec", argument)
                else:
                    arrays[name] = grids.array_of(points, value, argument) if first else None
        except (TypeError, ValueError) as error:
            problem = error
        c.agree(self.da.comm, problem, **{"the number of " + kind: len(some) for kind, some in (
            ("parameters", numbers), ("vectors", vectors), ("arrays", arrays))})
        c.agree(self.da.comm, None, **{"the parameter " + name: numbers[name] for name in sorted(numbers)})
        for name in sorted(arrays):
            with c.temporary(grids.scatter(points, arrays[name])) as vector:
                _call("DMDAEquationSetField", self.da, name, vector)
        for name in sorted(vectors):
            _call("DMDAEquationSetField", self.da, name, vectors[name])
        for name, number in numbers.items():
            _call("DMDAEquationSetParameter", self.da, name, number)

    def coordinates(self):
        """The coordinates of the grid's points [length], on all ranks, for arrays that are functions of them.

        Returns
        -------
        tuple of numpy.ndarray
            x of shape (nx,); or x of shape (1, nx) and y of (ny, 1); or likewise x, y and z. An expression of all has
            the shape of the grid, as ``eq.set(k=1 + x * y)`` wants it.
        """
        axes = [numpy.zeros(n, dtype=c.real_type()) for n in self.da.getSizes()]
        x, y, z = [a.ctypes.data for a in axes] + [None] * (3 - len(axes))
        c.call("DMDAEquationGetCoordinates", ctypes.c_void_p(self.da.handle), ctypes.c_void_p(x), ctypes.c_void_p(y),
               ctypes.c_void_p(z))
        return tuple(reversed(numpy.ix_(*reversed(axes))))

    @property
    def time(self):
        """The time t that a residual sees, 0 at first; of a rate that which `ts` has reached. ``eq.time = 3`` sets it."""
        return self.ts.getTime() if self.has_rate else _call("DMDAEquationGetTime", self.da)

    @time.setter
    def time(self, time):
        self._set_time(self._agreed_time(time, "shellac.Equation.time"))

    def _agreed_time(self, time, name):
        problem = None
        try:
            time = c.number(time, "PetscReal", name).value
        except (TypeError, ValueError) as error:
            problem, time = error, 0.0
        c.agree(self.da.comm, problem, time=time)
        return time

    def _set_time(self, time):
        if self.has_rate:
            self.ts.setTime(time)
        else:
            _call("DMDAEquationSetTime", self.da, time)

    def initial(self):
        """The initial state that the text states, zero where it states none: a PETSc.Vec."""
        u = self.da.createGlobalVec()
        _call("DMDAEquationComputeInitial", self.da, u)
        return u

    def exact(self, time=None):
        """The exact solution that the text states: a PETSc.Vec. time: as for `error`."""
        return self._exact(self.da, time)

    def _exact(self, da, time):
        u = da.createGlobalVec()
        _call("DMDAEquationComputeExact", da, self.time if time is None else time, u)
        return u

    def error(self, u, time=None):
        """The largest difference between u and the exact solution.

        Parameters
        ----------
        u : PETSc.Vec
            As `solve` returns it.
        time : float, optional
            By default the present `time`.

        Returns
        -------
        float
        """
        da = ctypes.c_void_p()  # solvers may have refined the grid
        c.call("VecGetDM", c.handle(u, "Vec", "shellac.Equation.error(): u"), ctypes.byref(da))
        if not da:
            return self._difference(self.da, u, time)
        c.call("PetscObjectReference", da)  # petsc4py 3.18's u.getDM() does without
        with c.temporary(c.adopt(u, da)) as own:
            return self._difference(own, u, time)

    def _difference(self, da, u, time):
        with c.temporary(self._exact(da, time)) as exact:
            exact -= u
            return exact.norm(_petsc().NormType.INFINITY)

    def evaluate(self, u, time=None):
        """The residual of a state, or its rate at a time.

        Parameters
        ----------
        u : PETSc.Vec or array_like
            The state, as for `solve`.
        time : float, optional
            By default the present `time`.

        Returns
        -------
        PETSc.Vec
        """
        state = self._state(u, "shellac.Equation.evaluate(): u")
        with c.temporary(*([] if state is u else [state])):
            f = state.duplicate()
            if time is not None:
                time = self._agreed_time(time, "shellac.Equation.evaluate(): time")
            if self.has_rate:
                self.ts.computeRHSFunction(self.time if time is None else time, state, f)
                return f
            if time is None:
                self.snes.computeFunction(state, f)
                return f
            before = self.time
            self._set_time(time)
            try:
                self.snes.computeFunction(state, f)
            finally:
                self._set_time(before)
            return f

    def mat(self):
        """The operator of a linear equation, assembled, of the grid's Mat type: a PETSc.Mat.

        Raises
        ------
        PETSc.Error
            The equation is not linear, or a parameter or a field has no value.
        """
        A = ctypes.c_void_p()
        c.call("DMDACreateEquationMat", ctypes.c_void_p(self.da.handle), ctypes.byref(A))
        return c.adopt(self.da, A)

    def derivative(self, u, name=None, time=None):
        """The derivative of what `evaluate` computes by a parameter or a field of this name, or by all parameters: a
        PETSc.Mat, with a column for each parameter, or products, also with the transpose, for a field.
        """
        state = self._state(u, "shellac.Equation.derivative(): u")
        with c.temporary(*([] if state is u else [state])):
            time = self.time if time is None else self._agreed_time(time, "shellac.Equation.derivative(): time")
            P = ctypes.c_void_p()
            c.call("DMDACreateEquationJacobianP", ctypes.c_void_p(self.da.handle),
                   None if name is None else ctypes.c_char_p(name.encode()), ctypes.byref(P))
            P = c.adopt(self.da, P)
            _call("DMDAEquationComputeJacobianP", self.da, time, state, P)
            return P

    # ---- solvers ----------------------------------------------------------------------------------------------------

    @property
    def snes(self):
        """The PETSc.SNES of a residual, Newton's method by default; one iteration where the equation is linear."""
        if self._snes is None:
            if self.has_rate:
                raise ValueError("shellac.Equation.snes: the text states a rate, which a TS solves; use ts")
            self._snes = self._solver("SNES")
            if self.linear:
                self._snes.getKSP().setTolerances(rtol=1e-9)
            with self._with_options():
                self._snes.setFromOptions()
        return self._snes

    @property
    def ts(self):
        """The PETSc.TS of a rate: explicit Runge-Kutta with adaptive steps, unless options say another."""
        if self._ts is None:
            if not self.has_rate:
                raise ValueError("shellac.Equation.ts: the text states a residual, which a SNES solves; use snes")
            self._ts = self._solver("TS")
            self._ts.setType("rk")
            self._ts.setTimeStep(1e-3)
            self._ts.setMaxSteps(2**31 - 1)
            self._ts.setExactFinalTime(_petsc().TS.ExactFinalTime.MATCHSTEP)
            with self._with_options():
                self._ts.setFromOptions()
        return self._ts

    def _solver(self, kind):
        solver = getattr(_petsc(), kind)().create(comm=self.da.comm)
        solver.setDM(self.da)
        solver.setOptionsPrefix(self._prefix)
        return solver

    def _with_options(self):
        return c.temporary_options(self._prefix, self._options)

    def _state(self, u, what):
        if isinstance(u, _petsc().Vec):
            c.handle(u, "Vec", what)
            return u
        problem = None
        try:
            if self.da.comm.getRank() == 0:
                u = grids.array_of(self.da, u, what)
        except (TypeError, ValueError) as error:
            problem = error
        c.agree(self.da.comm, problem)
        return grids.scatter(self.da, u)

    def solve(self, u=None, *, until=None, dt=None):
        """Solves the equation.

        Parameters
        ----------
        u : PETSc.Vec or array_like, optional
            The state to begin with; the text's initial one by default. A vector is overwritten. An array is the first
            rank's, of the shape that `gather` gives.
        until : float
            For a rate, and needed there: the time at the end; or ``-ts_max_time``. Time begins at 0; where u is given
            it goes on from what `ts` has reached, which ``eq.time = 0`` changes.
        dt : float, optional
            For a rate: the first time step, which adaptive methods change; or ``-ts_dt``, from PETSc 3.25 on
            ``-ts_time_step``.

        Returns
        -------
        PETSc.Vec
            The solution. ``-snes_grid_sequence`` gives it on the grid ``eq.snes.getDM()``.

        Raises
        ------
        RuntimeError
            The solver does not converge.
        PETSc.Error
            A parameter or a field has no value; values that are not finite, with the line of the text.
        """
        what = "shellac.Equation.solve()"
        solve = self._solve_in_time if self.has_rate else self._solve_steady
        if not self.has_rate and (until is not None or dt is not None):
            raise TypeError(f"{what}: until and dt are for a rate; the text states a residual")
        start = self.initial() if u is None else self._state(u, f"{what}: u")
        with self._with_options():
            return solve(what, start, u is None, until, dt)

    def _solve_steady(self, what, u, *_):
        snes = self.snes
        if snes.getDM() != self.da:  # grid sequencing has refined it
            snes.reset()
            snes.setDM(self.da)
        snes.solve(None, u)
        if snes.getConvergedReason() <= 0:
            raise RuntimeError(f"{what}: the solver does not converge: {_reason(snes)} after "
                               f"{snes.getIterationNumber()} nonlinear and {snes.getLinearSolveIterations()} linear "
                               "iterations; try another initial state, -pc_type or -snes_type, and -snes_monitor")
        return snes.getSolution()

    def _solve_in_time(self, what, u, from_start, until, dt):
        ts, given = self.ts, _petsc().Options(self._prefix)
        until, dt = (None if value is None else c.number(value, "PetscReal", f"{what}: {name}").value
                     for name, value in (("until", until), ("dt", dt)))
        if until is None and not given.hasName("ts_max_time"):
            raise TypeError(f"{what}: a rate is solved to a time; give until=, or the option "
                            f"-{self._prefix}ts_max_time")
        if from_start:
            ts.setTime(0)
        if until is not None and not given.hasName("ts_max_time"):
            ts.setMaxTime(until)
        self._dt = dt if dt is not None else self._dt
        if self._dt is not None and not any(given.hasName(name) for name in ("ts_dt", "ts_time_step")):
            ts.setTimeStep(self._dt)  # the last step of an earlier solution was cut
        ts.setStepNumber(0)
        ts.solve(u)
        if ts.getSolveTime() != ts.getTime():
            ts.setTime(ts.getSolveTime())  # u is interpolated there, and the step has gone farther
        if ts.getConvergedReason() < 0:
            raise RuntimeError(f"{what}: the solver fails: {_reason(ts)} after {ts.getStepNumber()} steps at the time "
                               f"{ts.getTime():g}; try a smaller dt, another -ts_type, and -ts_monitor")
        return u

    def __repr__(self):
        kind = "rate" if self.has_rate else "residual"
        values = "".join(f", {name} = {value:g}" for name, value in self.parameters.items())
        return (f"<shellac.Equation: a {'linear' if self.linear else 'nonlinear'} {kind} on "
                f"{' x '.join(map(str, self.da.getSizes()))} points{values}>")


def _reason(solver):
    """The name of a negative reason."""
    reasons = vars(type(solver).ConvergedReason).items()
    return next((name for name, value in reasons if value == solver.getConvergedReason()), "unknown reason")
