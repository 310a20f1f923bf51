"""Matrix-free operators on a DMDA."""

import contextlib
import ctypes

import numpy

from . import functions as c
from . import grids


def check_dmda(da, what):
    from petsc4py import PETSc
    c.handle(da, "DM", f"{what}: da")
    if not isinstance(da, PETSc.DMDA) and da.getType() != "da":
        raise TypeError(f"{what}: da is a DM of type {da.getType()}; it must be a DMDA")


def _check_type(A, wanted, what):
    if A.getType() != wanted:
        raise ValueError(f"{what}: the option -{A.getOptionsPrefix() or ''}mat_type makes the matrix one of type "
                         f"{A.getType()}; leave it out, or give this matrix a prefix of its own: prefix='my_'")
    return A


def _array(kind, values, what):
    """A length and an address, for C; and the array, which must live as long."""
    array = c.reals(values, what) if kind == "PetscReal" else c.values_of(kind, values, what)
    return array, (c.int_type()(len(array)), ctypes.c_void_p(array.ctypes.data))


def _operator(da, kind, prefix, *, problem=None, boundary=None, robin=None, lengths=None, halo=None, **settings):
    """A Mat of that type. settings: functions of the C interface with the keyword, a kind and the value. problem: an
    exception of this rank, of the caller's checks.

    Values are checked first, so that one rank's error is an error on all before any of them goes on."""
    from petsc4py import PETSc
    what = f"shellac.{kind}()"
    check_dmda(da, what)
    calls, kept = [], []
    dim = da.getDim()
    settings["MatSetHaloType"] = ("halo", "MatHaloType", halo)
    try:
        if lengths is not None:
            lengths = c.reals(lengths, f"{what}: lengths")
            if len(lengths) != dim:
                raise ValueError(f"{what}: lengths has {len(lengths)} numbers; a {dim}-D DMDA needs {dim}")
            if not (lengths > 0).all():
                raise ValueError(f"{what}: lengths is {lengths.tolist()}; lengths must be positive")
        for function, name, of, value in (
                ("MatLaplaceSetBoundaries", "boundary", "MatLaplaceBoundaryType", boundary),
                ("MatLaplaceSetRobin", "robin", "PetscReal", robin),
                ("MatLaplaceSetLengths", "lengths", "PetscReal", lengths)):
            if value is None:
                continue
            array, arguments = _array(of, value, f"{what}: {name}")
            if name != "lengths" and len(array) not in (1, 2 * dim):
                raise ValueError(f"{what}: {name} has {len(array)} values; a {dim}-D DMDA needs 1, for all sides, or "
                                 f"{2 * dim}: x lower, x upper, y lower, ...")
            kept.append(array)
            calls.append((function, *arguments))
        for function, (name, of, value) in settings.items():
            if value is None:
                continue
            argument = f"{what}: {name}"
            if of == "Vec":
                calls.append((function, c.handle(value, "Vec", argument)))
            elif of == "Vec[]":
                vectors = [c.handle(one, "Vec", argument) for one in value]
                array = (ctypes.c_void_p * len(vectors))(*vectors)
                calls.append((function, c.int_type()(len(array)), array))
            elif of.endswith("[]"):
                array, arguments = _array(of[:-2], value, argument)
                kept.append(array)
                calls.append((function, *arguments))
            elif c.is_enumeration(of):
                calls.append((function, ctypes.c_int(c.value_of(of, value, argument))))
            else:
                calls.append((function, c.number(value, of, argument)))
    except (TypeError, ValueError) as error:
        problem = problem or error
    c.agree(da.comm, problem, **{f"the kinds of arguments of {what}": " ".join(function for function, *_ in calls)})
    A = PETSc.Mat().create(comm=da.comm)
    c.ready_type(A, kind)
    c.call("MatSetDM", ctypes.c_void_p(A.handle), ctypes.c_void_p(da.handle))
    if prefix is not None:
        A.setOptionsPrefix(prefix)
    for function, *arguments in calls:
        c.call(function, ctypes.c_void_p(A.handle), *arguments)
    A.setFromOptions()
    _check_type(A, kind, what)
    A.setUp()
    return A


@contextlib.contextmanager
def _field(da, values, argument):
    """A vector of the first rank's array of the whole grid, for a with block; then it does not matter what other ranks have.
    Whatever else is given, as it is."""
    first, made = da.comm.getRank() == 0, []
    if c.any_rank(da.comm, first and isinstance(values, numpy.ndarray) and values.ndim):
        problem = None
        try:
            if first:
                values = grids.array_of(da, values, argument)
        except (TypeError, ValueError) as error:
            problem = error
        c.agree(da.comm, problem)
        values = grids.scatter(da, values)
        made.append(values)  # the operator has a reference of its own
    with c.temporary(*made):
        yield values


@contextlib.contextmanager
def _solid(da, mask, wall, what):
    """The setters of solid points, for a with block."""
    check_dmda(da, what)
    with _field(da, mask, f"{what}: mask") as mask:
        yield {"MatDiffusionSetMask": ("mask", "Vec", mask), "MatDiffusionSetWall": ("wall", "MatDiffusionWallType", wall)}


@c.named_keywords
def laplace(da, *, mask=None, wall=None, boundary=None, robin=None, shape=None, lengths=None, halo=None, prefix=None):
    """The operator -Laplacian on a grid, never assembled.

    Parameters
    ----------
    da : PETSc.DMDA
        The grid, 1-D, 2-D or 3-D, with one unknown at each point.
    mask : PETSc.Vec or numpy.ndarray, optional
        Solid points, where it is not zero; their rows are the identity's. A vector, or the first rank's array of all points,
        of shape (nx,), (ny, nx) or (nz, ny, nx), as `scatter` takes it. With the shape 'star'.
    wall : {'noflux', 'value'}, optional
        What holds at the faces of solid points: no flux through them, the default, or a value of u, zero without data.
    boundary : str or sequence of str, shape (2 * dim,), optional
        The form of the ends of axes that are not periodic or mirrored: one for all, or one for each side: x lower, x
        upper, y lower, and so on. 'eliminated', the default: the unknowns are the interior points, zero beyond them.
        'identity': the grid carries its boundary points, with rows of the identity. 'neumann': zero normal derivative.
        'robin': du/dn + robin * u = 0.
    robin : float or sequence of float, shape (2 * dim,), optional
        The coefficient of sides with that form [1/length].
    shape : {'star', 'box'}, optional
        'star', the default: of second order. 'box': 9 or 27 points, of fourth order with `right_hand_side`.
    lengths : sequence of float, shape (dim,), optional
        Side lengths of the domain [length]; 1 each by default.
    halo : {'automatic', 'ipc', 'nccl', 'mpi', 'host'}, optional
        How halos are exchanged between GPUs; 'automatic' by default.
    prefix : str, optional
        Prefix of the options of this matrix.

    Returns
    -------
    PETSc.Mat
        Of type 'laplace', set up.
    """
    with _solid(da, mask, wall, "shellac.laplace()") as solid:
        return _operator(da, "laplace", prefix, boundary=boundary, robin=robin, lengths=lengths, halo=halo,
                         MatLaplaceSetShape=("shape", "MatLaplaceShapeType", shape), **solid)


@c.named_keywords
def helmholtz(da, *, shift=None, omega=None, mask=None, wall=None, boundary=None, robin=None, shape=None, lengths=None,
              halo=None, prefix=None):
    """The operator -Laplacian + shift on a grid, never assembled.

    Parameters
    ----------
    da : PETSc.DMDA
        The grid, 1-D, 2-D or 3-D, with one unknown at each point.
    shift : scalar, optional
        The shift [1/length**2]. Waves of wavenumber k, -Laplacian - k**2, have shift = -k**2.
    omega : float, optional
        Instead of `shift`: shift = +omega**2, the modified Helmholtz equation, whose solutions decay [1/length]. No
        wavenumber: that of waves is part of a negative `shift`.
    mask, wall, boundary, robin, shape, lengths, halo, prefix
        As for `laplace`.

    Returns
    -------
    PETSc.Mat
        Of type 'helmholtz', set up.
    """
    what, problem = "shellac.helmholtz()", None
    name, sigma = ("shift", shift) if omega is None else ("omega", omega)
    if (shift is None) == (omega is None):
        problem = TypeError(f"{what} takes one of shift and omega (shift = omega**2; waves have shift = -k**2), "
                            + ("none was given" if shift is None else "both were given"))
    elif omega is not None:
        try:
            sigma = omega * omega
        except TypeError:  # which says below that it is no number
            pass
    with _solid(da, mask, wall, what) as solid:
        return _operator(da, "helmholtz", prefix, problem=problem, boundary=boundary, robin=robin, lengths=lengths,
                         halo=halo, MatLaplaceSetShape=("shape", "MatLaplaceShapeType", shape),
                         MatHelmholtzSetShift=(name, "PetscScalar", sigma), **solid)


@contextlib.contextmanager
def _coefficient(da, k, mask, wall, what):
    """The setters of k, as a field, one for each axis, or a constant, and those of solid points, for a with block."""
    from petsc4py import PETSc
    check_dmda(da, what)
    with _field(da, k, f"{what}: k") as k, _solid(da, mask, wall, what) as solid:
        if isinstance(k, (list, tuple)):
            yield {"MatDiffusionSetFaceCoefficients": ("k", "Vec[]", k), **solid}
        elif isinstance(k, PETSc.Vec):
            yield {"MatDiffusionSetCoefficient": ("k", "Vec", k), **solid}
        else:
            yield {"MatDiffusionSetConstant": ("k", "PetscScalar", k), **solid}


def _useless_mean(mean, coefficient, what):
    """An error where a mean is given, and no field at the points to take it of; else None."""
    if mean is None or "MatDiffusionSetCoefficient" in coefficient:
        return None
    k = "given on faces" if "MatDiffusionSetFaceCoefficients" in coefficient else "a constant"
    return ValueError(f"{what}: mean has no effect where k is {k}; leave it out")


@c.named_keywords
def diffusion(da, k, *, mean=None, mask=None, wall=None, shift=None, boundary=None, robin=None, lengths=None, halo=None,
              prefix=None):
    """The operator -div(k grad) + shift on a grid, never assembled.

    Parameters
    ----------
    da : PETSc.DMDA
        The grid, 1-D, 2-D or 3-D, with one unknown at each point.
    k : PETSc.Vec, list of PETSc.Vec, numpy.ndarray or scalar
        The coefficient at the points, a global vector of `da`; or a list of one for each axis, with k on the face between a
        point and the one before it; or a constant. The operator keeps the vectors and follows their changes; call
        ``A.assemble()`` after one, before a solver is used again. Or the first rank's array of all points, of shape (nx,),
        (ny, nx) or (nz, ny, nx), as `scatter` takes it, which is copied; what other ranks give is then not looked at.
    mean : {'harmonic', 'arithmetic'}, optional
        What the face between two points has, for values of k at the points; 'harmonic' by default.
    mask : PETSc.Vec or numpy.ndarray, optional
        Solid points, where it is not zero; their rows are the identity's. A vector, or the first rank's array, as for k.
    wall : {'noflux', 'value'}, optional
        What holds at the faces of solid points: no flux through them, the default, or a value of u, zero without data.
    shift : scalar, optional
        0 by default [k/length**2].
    boundary, robin, lengths, halo, prefix
        As for `laplace`. The conditions are du/dn = 0 and du/dn + robin * u = 0, without k.

    Returns
    -------
    PETSc.Mat
        Of type 'diffusion', set up.
    """
    what = "shellac.diffusion()"
    with _coefficient(da, k, mask, wall, what) as coefficient:
        return _operator(da, "diffusion", prefix, problem=_useless_mean(mean, coefficient, what), boundary=boundary,
                         robin=robin, lengths=lengths, halo=halo,
                         MatDiffusionSetMean=("mean", "MatDiffusionMeanType", mean),
                         MatDiffusionSetShift=("shift", "PetscScalar", shift), **coefficient)


@c.named_keywords
def advection_diffusion(da, k, w, *, scheme=None, mean=None, mask=None, wall=None, shift=None, boundary=None, robin=None,
                        lengths=None, halo=None, prefix=None):
    """The operator -div(k grad) + w . grad + shift on a grid, never assembled.

    Parameters
    ----------
    da : PETSc.DMDA
        The grid, 1-D, 2-D or 3-D, with one unknown at each point.
    k : PETSc.Vec or scalar
        The coefficient, as for `diffusion`.
    w : PETSc.Vec or sequence of float, shape (dim,)
        The velocity: at the points, a global vector of a DMDA of the same points with dof = dim; or a constant.
    scheme : {'central', 'upwind'}, optional
        Differences of second order, the default, or of first order without oscillations.
    mean, mask, wall, shift, boundary, robin, lengths, halo, prefix
        As for `diffusion`.

    Returns
    -------
    PETSc.Mat
        Of type 'advection_diffusion', set up.
    """
    from petsc4py import PETSc
    velocity = {"MatAdvectionDiffusionSetVelocity": ("w", "Vec", w)} if isinstance(w, PETSc.Vec) else \
        {"MatAdvectionDiffusionSetConstantVelocity": ("w", "PetscReal[]", w)}
    what = "shellac.advection_diffusion()"
    with _coefficient(da, k, mask, wall, what) as coefficient:
        return _operator(da, "advection_diffusion", prefix, problem=_useless_mean(mean, coefficient, what),
                         boundary=boundary, robin=robin, lengths=lengths, halo=halo,
                         MatAdvectionDiffusionSetScheme=("scheme", "MatAdvectionDiffusionSchemeType", scheme),
                         MatDiffusionSetMean=("mean", "MatDiffusionMeanType", mean),
                         MatDiffusionSetShift=("shift", "PetscScalar", shift), **coefficient, **velocity)


def right_hand_side(A, f, g=None):
    """The right-hand side of A u = f with the data g on the boundary.

    Parameters
    ----------
    A : PETSc.Mat
        Of `laplace`, `helmholtz`, `diffusion`, `advection_diffusion` or a registered formula.
    f : function
        The source f(x) at a point x, an array of shape (dim,). It is called once for each point; for large grids fill a
        vector by NumPy and add the boundary's data by ``shellac.MatLaplaceAddBoundary(A, g, b)``.
    g : function, optional
        The data g(x, axis, upper) at a point of a side: u for 'eliminated' and 'identity', du/dn for 'neumann',
        du/dn + robin * u for 'robin', outward. Zero by default.

    Returns
    -------
    PETSc.Vec
    """
    c.handle(A, "Mat", "shellac.right_hand_side(): A")
    b = A.createVecs()[1]
    c.define()["MatLaplaceSetRightHandSide"](A, f, g, b)
    return b


@c.named_keywords
def stencil(da, *, halo=None, prefix=None):
    """A matrix that captures what is assembled into it, without storing column indices.

    Parameters
    ----------
    da : PETSc.DMDA
        The grid; any dimension, stencil and number of unknowns a point.
    halo : {'automatic', 'ipc', 'nccl', 'mpi', 'host'}, optional
        How halos are exchanged between GPUs; 'automatic' by default.
    prefix : str, optional
        Prefix of the options of this matrix, as ``-<prefix>mat_stencil_compress``.

    Returns
    -------
    PETSc.Mat
        Of type 'stencil', empty: to be filled with ``setValuesStencil``, ``setValuesLocal`` or ``setValues`` and
        assembled with ``assemble``.
    """
    return _operator(da, "stencil", prefix, halo=halo)
