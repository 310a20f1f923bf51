"""Matrix-free operators on a DMDA."""

import ctypes

from . import functions as c


def _dmda(da, what):
    from petsc4py import PETSc
    c.handle(da, "DM", f"{what}: da")
    if not isinstance(da, PETSc.DMDA) and da.getType() != "da":
        raise TypeError(f"{what}: da is a DM of type {da.getType()}; it must be a DMDA")


def _check_type(A, wanted, what):
    if A.getType() != wanted:
        raise ValueError(f"{what}: the option -{A.getOptionsPrefix() or ''}mat_type makes the matrix one of type "
                         f"{A.getType()}; leave it out, or give this matrix a prefix of its own: prefix='my_'")
    return A


def _operator(da, kind, prefix, boundary, lengths, set_more=None):
    from petsc4py import PETSc
    what = f"shellac.{kind}()"
    _dmda(da, what)
    problem = None
    try:
        if lengths is not None:
            lengths = c.reals(lengths, f"{what}: lengths")
            if len(lengths) != da.getDim():
                raise ValueError(f"{what}: lengths has {len(lengths)} numbers; a {da.getDim()}-D DMDA needs "
                                 f"{da.getDim()}")
            if not (lengths > 0).all():
                raise ValueError(f"{what}: lengths is {lengths.tolist()}; lengths must be positive")
        if boundary is not None:
            boundary = c.value_of("MatLaplaceBoundaryType", boundary, f"{what}: boundary")
    except (TypeError, ValueError) as error:
        problem = error
    c.agree(da.comm, problem)
    A = PETSc.Mat().create(comm=da.comm)
    c.ready_type(A, kind)
    c.call("MatSetDM", ctypes.c_void_p(A.handle), ctypes.c_void_p(da.handle))
    if prefix is not None:
        A.setOptionsPrefix(prefix)
    if boundary is not None:
        c.call("MatLaplaceSetBoundary", ctypes.c_void_p(A.handle), ctypes.c_int(boundary))
    if lengths is not None:
        c.call("MatLaplaceSetLengths", ctypes.c_void_p(A.handle), c.int_type()(len(lengths)),
               ctypes.c_void_p(lengths.ctypes.data))
    if set_more:
        set_more(A)
    A.setFromOptions()
    _check_type(A, kind, what)
    A.setUp()
    return A


@c.named_keywords
def laplace(da, *, boundary=None, lengths=None, prefix=None):
    """The operator -Laplacian on a grid, never assembled.

    Parameters
    ----------
    da : PETSc.DMDA
        The grid, 1-D, 2-D or 3-D, with one unknown at each point.
    boundary : {'eliminated', 'identity', 'neumann'}, optional
        The form of the ends of axes that are not periodic. 'eliminated', the default: the unknowns are the interior
        points, zero beyond them. 'identity': the grid carries its boundary points, with rows of the identity.
        'neumann': zero normal derivative.
    lengths : sequence of float, shape (dim,), optional
        Side lengths of the domain [length]; 1 each by default.
    prefix : str, optional
        Prefix of the options of this matrix.

    Returns
    -------
    PETSc.Mat
        Of type 'laplace', set up.
    """
    return _operator(da, "laplace", prefix, boundary, lengths)


@c.named_keywords
def helmholtz(da, *, shift=None, omega=None, boundary=None, lengths=None, prefix=None):
    """The operator -Laplacian + shift on a grid, never assembled.

    Parameters
    ----------
    da : PETSc.DMDA
        The grid, 1-D, 2-D or 3-D, with one unknown at each point.
    shift : scalar, optional
        The shift [1/length**2]. Negative: waves.
    omega : float, optional
        Instead of `shift`: shift = omega**2, the modified Helmholtz equation [1/length].
    boundary, lengths, prefix
        As for `laplace`.

    Returns
    -------
    PETSc.Mat
        Of type 'helmholtz', set up.
    """
    what = "shellac.helmholtz()"
    if (shift is None) == (omega is None):
        raise TypeError(f"{what} takes one of shift and omega (shift = omega**2), "
                        + ("none was given" if shift is None else "both were given"))
    sigma = c.number(shift, "PetscScalar", f"{what}: shift") if omega is None else \
        c.number(omega * omega, "PetscScalar", f"{what}: omega")
    return _operator(da, "helmholtz", prefix, boundary, lengths,
                     lambda A: c.call("MatHelmholtzSetShift", ctypes.c_void_p(A.handle), sigma))


@c.named_keywords
def stencil(da, *, prefix=None):
    """A matrix that captures what is assembled into it, without storing column indices.

    Parameters
    ----------
    da : PETSc.DMDA
        The grid; any dimension, stencil and number of unknowns a point.
    prefix : str, optional
        Prefix of the options of this matrix, as ``-<prefix>mat_stencil_compress``.

    Returns
    -------
    PETSc.Mat
        Of type 'stencil', empty: to be filled with ``setValuesStencil``, ``setValuesLocal`` or ``setValues`` and
        assembled with ``assemble``.
    """
    what = "shellac.stencil()"
    _dmda(da, what)
    before = ctypes.c_char_p()
    c.call("DMGetMatType", ctypes.c_void_p(da.handle), ctypes.byref(before))
    name = before.value
    da.setMatType("stencil")
    try:
        A = da.createMatrix()
    finally:
        c.call("DMSetMatType", ctypes.c_void_p(da.handle), name)
    if prefix is not None:
        A.setOptionsPrefix(prefix)
        A.setFromOptions()
    return _check_type(A, "stencil", what)
