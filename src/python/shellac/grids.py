"""Values on a grid as NumPy arrays."""

from . import functions as c


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
    natural = da.createNaturalVec()
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
    scatter, everything = PETSc.Scatter.toZero(natural)
    scatter.scatter(natural, everything)
    if da.comm.getRank() > 0:
        return None
    shape = tuple(reversed(da.getSizes())) + ((da.getDof(),) if da.getDof() > 1 else ())
    return everything.getArray().reshape(shape).copy()
