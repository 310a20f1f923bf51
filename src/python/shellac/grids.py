"""Values on a grid as NumPy arrays."""

import numpy

from . import functions as c


def shape(da):
    """The shape of an array of a grid's values, as `gather` gives it."""
    return tuple(reversed(da.getSizes())) + ((da.getDof(),) if da.getDof() > 1 else ())


def gather(da, v):
    """All values of a grid's vector on the first rank, for a picture or a file.

    Parameters
    ----------
    da : PETSc.DMDA
        The grid.
    v : PETSc.Vec
        A global vector of it.

    Returns
    -------
    numpy.ndarray or None
        On the first rank an array of shape (nx,), (ny, nx) or (nz, ny, nx), with one more axis (dof,) where a point
        has several unknowns. None on the others.
    """
    from petsc4py import PETSc
    c.handle(da, "DM", "shellac.gather(): da")
    with c.temporary(da.createNaturalVec()) as natural:
        problem = None
        try:
            c.handle(v, "Vec", "shellac.gather(): v")
            if v.getSizes() != natural.getSizes():
                raise ValueError(f"shellac.gather(): v has {v.getSize()} values, {v.getLocalSize()} of them on this rank; "
                                 f"the grid's vectors have {natural.getSize()} and {natural.getLocalSize()}")
        except (TypeError, ValueError) as error:
            problem = error
        c.agree(da.comm, problem)
        da.globalToNatural(v, natural)
        with c.temporary(*PETSc.Scatter.toZero(natural)) as (to_zero, everything):
            to_zero.scatter(natural, everything)
            if da.comm.getRank() > 0:
                return None
            return everything.getArray().reshape(shape(da)).copy()


def array_of(da, values, what):
    """An array of a grid's shape, of numbers that are checked: a number is the value of all points."""
    from petsc4py import PETSc
    array = c.plain(values, what)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{what} is {values!r}; it must be a vector, an array of numbers or a number")
    if numpy.iscomplexobj(array) and not numpy.issubdtype(PETSc.ScalarType, numpy.complexfloating):
        raise TypeError(f"{what} is complex, but this PETSc has real scalars")
    wanted = shape(da)
    if array.ndim and (array.ndim != len(wanted) or any(n not in (1, m) for n, m in zip(array.shape, wanted))):
        raise ValueError(f"{what} has shape {array.shape}; it must be {wanted}, as [..., y, x], with 1 where the "
                         "values are the same along an axis; or a number")
    if not numpy.isfinite(array).all():
        raise ValueError(f"{what} has values that are not finite")
    return numpy.broadcast_to(array, wanted)


def scatter(da, values):
    """A grid's vector from an array of all values on the first rank: the inverse of `gather`.

    Parameters
    ----------
    da : PETSc.DMDA
        The grid.
    values : array_like, shape (nx,), (ny, nx) or (nz, ny, nx), with one more axis (dof,) for several unknowns
        The first rank's values; what other ranks give is not looked at. An axis of length 1 stands for equal values
        along it, a number for equal values at all points.

    Returns
    -------
    PETSc.Vec
        A global vector of the grid.
    """
    from petsc4py import PETSc
    c.handle(da, "DM", "shellac.scatter(): da")
    problem = None
    try:
        array = array_of(da, values, "shellac.scatter(): values") if da.comm.getRank() == 0 else None
    except (TypeError, ValueError) as error:
        problem = error
    c.agree(da.comm, problem)
    v = da.createGlobalVec()
    with c.temporary(da.createNaturalVec()) as natural:
        with c.temporary(*PETSc.Scatter.toZero(natural)) as (to_zero, everything):
            if array is not None:
                everything.setArray(array.ravel())
            to_zero.scatter(everything, natural, mode=PETSc.ScatterMode.REVERSE)
        da.naturalToGlobal(natural, v)
    return v
