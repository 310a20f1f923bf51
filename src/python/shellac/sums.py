"""Sums of kernel functions over particles, from NumPy arrays."""

import ctypes
import re

import numpy

from . import functions as c


def kernels():
    """The library's kernel functions: name: (has sigma, has a wavenumber)."""
    return {name: _parameters_of(formula) for name, formula in zip(*c.define()["MatKernelSumGetKernels"]())}


def _parameters_of(formula):
    names = re.findall(r"[A-Za-z_]\w*", formula)
    return "sigma" in names, "k" in names


def _points(points, what):
    try:
        array = c.plain(points, what)
        if numpy.iscomplexobj(array):
            raise TypeError(f"{what} is complex; points x + iy of a plane are numpy.stack([z.real, z.imag], axis=1)")
        array = array.astype(float)
    except ValueError:
        raise TypeError(f"{what} must be an array of numbers of shape (n, dim)") from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or not 1 <= array.shape[1] <= 3:
        raise ValueError(f"{what} has shape {array.shape}; it must be (n, dim) with dim 1, 2 or 3, or (n,)")
    return array


def _numbers(values, what):
    try:
        array = c.plain(values, what)
    except ValueError:  # rows of different lengths
        array = numpy.asarray(None)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{what} must be an array of numbers")
    return array


def vector(values, comm=None):
    """A vector of values at points, each rank's own.

    Parameters
    ----------
    values : array_like, shape (n,) or (n, k)
        The values at this rank's points; k values a point make a vector of block size k.
    comm : PETSc.Comm or mpi4py communicator, optional
        The ranks that share the vector; all by default.

    Returns
    -------
    PETSc.Vec
        Of the type that the option ``-vec_type`` says.
    """
    from petsc4py import PETSc
    comm = c.petsc_comm(comm)
    problem, block = None, 1
    try:
        array = _numbers(values, "shellac.vector(): values")
        if array.ndim not in (1, 2):
            raise ValueError(f"shellac.vector(): values has shape {array.shape}; it must be (n,) or (n, k)")
        if numpy.iscomplexobj(array) and not numpy.issubdtype(PETSc.ScalarType, numpy.complexfloating):
            raise TypeError("shellac.vector(): values is complex, but this PETSc has real scalars; give the real and "
                            "the imaginary parts as an array of shape (n, 2)")
        array = numpy.ascontiguousarray(array, dtype=PETSc.ScalarType)
        block = array.shape[1] if array.ndim == 2 else 1
        if block == 0:
            raise ValueError(f"shellac.vector(): values has shape {array.shape}; k must be 1 or more")
    except (TypeError, ValueError) as error:
        problem = error
    c.agree(comm, problem, **{"the number of values a point": block})
    v = PETSc.Vec().create(comm=comm)
    v.setSizes((array.size, None), bsize=block)
    v.setFromOptions()
    v.setUp()
    v.setArray(array.ravel())
    return v


def _check_used(what, function, has, sigma, wavenumber):
    for name, value, used in zip(("sigma", "wavenumber"), (sigma, wavenumber), has):
        if value is not None and not used:
            raise ValueError(f"{what}: {name} has no effect on {function}; leave it out")


@c.named_keywords
def kernelsum(targets, sources=None, *, kernel=None, formula=None, sigma=None, wavenumber=None, precision=None, self=None,
              type=None, rtol=None, comm=None, prefix=None):
    """The matrix g(x_i, y_j) of a kernel function between target and source points, never assembled.

    Parameters
    ----------
    targets : array_like, shape (m, dim) or (m,)
        This rank's target points x_i [length], in 1-D, 2-D or 3-D.
    sources : array_like, shape (n, dim) or (n,), optional
        This rank's source points y_j [length]; the targets by default.
    kernel : str, optional
        The kernel function, a name of `KERNELS`; r = |x - y|. Among them are
        'gaussian' exp(-r**2/(2 sigma**2)), 'laplace' 1/(4 pi r), 'helmholtz' exp(1j k r)/(4 pi r),
        'yukawa' exp(-k r)/(4 pi r), 'multiquadric' sqrt(r**2 + sigma**2),
        'inverse_multiquadric' 1/sqrt(r**2 + sigma**2), 'thin_plate' r**2 log(r), 'logarithm' -log(r)/(2 pi).
        'gaussian' by default.
    formula : str, optional
        Instead of a kernel an expression of r, sigma, k (the wavenumber) and pi, as 'exp(-r/sigma)'; compiled at run
        time.
    sigma : float, optional
        [length], > 0; 1 by default. Only for kernels that have it.
    wavenumber : float, optional
        k [1/length]. 'helmholtz' and 'yukawa' need it, above 0; a formula may have it, 0 or more.
    precision : {'double', 'single', 'mixed'}, optional
        What pairs are computed in.
    self : {'automatic', 'zero', 'limit', 'error'}, optional
        The value of g(x, x): its limit where that is finite and else zero, zero, the limit, or an error.
    type : {'direct', 'fast', 'auto'}, optional
        All pairs, a method of almost linear cost, or what is estimated to be faster.
    rtol : float, optional
        Tolerance of the fast method: the error in the 2-norm relative to that of the sums. Only with 'fast' and 'auto'.
    comm : PETSc.Comm or mpi4py communicator, optional
        The ranks that share the points; all by default.
    prefix : str, optional
        Prefix of the options of this matrix. Options of the command line override the arguments.

    Returns
    -------
    PETSc.Mat
        Of type 'kernelsum', set up. In a PETSc of real scalars the kernel 'helmholtz' has values (re, im);
        `multiply` takes and gives NumPy arrays for every kernel.
    """
    from petsc4py import PETSc
    what = "shellac.kernelsum()"
    comm = c.petsc_comm(comm)
    problem, given = None, {}
    try:
        x = _points(targets, f"{what}: targets")
        y = x if sources is None else _points(sources, f"{what}: sources")
        if x.shape[1] != y.shape[1]:
            raise ValueError(f"{what}: targets have {x.shape[1]} coordinates each, sources {y.shape[1]}")
        if formula is not None and not isinstance(formula, str):
            raise TypeError(f"{what}: formula is {formula!r}; it must be a string, as 'exp(-r/sigma)'")
        text = None if formula is None else c.encoded(formula, f"{what}: formula")
        if kernel is not None and formula is not None:
            raise ValueError(f"{what}: kernel and formula are two functions; leave one out")
        if kernel is None and formula is None:
            kernel = "gaussian"
        if formula is None:
            known = kernels()
            if kernel not in known:
                raise ValueError(f"{what}: kernel is {kernel!r}; use one of {', '.join(map(repr, known))}")
            _check_used(what, f"the kernel {kernel!r}", known[kernel], sigma, wavenumber)
        needs_wavenumber = formula is None and known[kernel][1]
        if wavenumber is None and needs_wavenumber and not PETSc.Options(prefix).hasName("mat_kernelsum_wavenumber"):
            raise ValueError(f"{what}: the kernel {kernel!r} needs its wavenumber; 'laplace' is the one without")
        if rtol is not None and (type or "direct") == "direct":
            raise ValueError(f"{what}: rtol has no effect on direct sums; use type='fast' or 'auto', or leave it out")
        sigma, wavenumber, rtol = (None if v is None else c.number(v, "PetscReal", f"{what}: {n}") for v, n in
                                   ((sigma, "sigma"), (wavenumber, "wavenumber"), (rtol, "rtol")))
        precision = None if precision is None else c.value_of("MatKernelSumPrecision", precision, f"{what}: precision")
        self = None if self is None else c.value_of("MatKernelSumSelf", self, f"{what}: self")
        type = None if type is None else c.value_of("MatKernelSumMethod", type, f"{what}: type")
        given = {"the number of coordinates a point": x.shape[1], "whether sources are given": sources is not None,
                 "kernel": kernel, "formula": formula, "precision": precision, "self": self, "type": type, "prefix": prefix}
        given.update((name, None if v is None else v.value) for name, v in
                     (("sigma", sigma), ("wavenumber", wavenumber), ("rtol", rtol)))
    except (TypeError, ValueError) as error:
        problem = error
    c.agree(comm, problem, **{f"{what}: {name}": repr(value) for name, value in given.items()})
    A = PETSc.Mat().create(comm=comm)
    c.ready_type(A, "kernelsum")
    if prefix is not None:
        A.setOptionsPrefix(prefix)
    address = ctypes.c_void_p(A.handle)
    vectors = [vector(x, comm)] + ([] if y is x else [vector(y, comm)])
    with c.temporary(*vectors):
        c.call("MatKernelSumSetPoints", address, *(ctypes.c_void_p(v.handle) for v in (vectors[0], vectors[-1])))
    if kernel is not None:
        c.call("MatKernelSumSetKernel", address, kernel.encode())
    if sigma is not None:
        c.call("MatKernelSumSetSigma", address, sigma)
    if wavenumber is not None:
        c.call("MatKernelSumSetWavenumber", address, wavenumber)
    if formula is not None:
        c.call("MatKernelSumSetFormula", address, text)  # which says what is wrong with the text
        _check_used(what, f"the formula {formula!r}", _parameters_of(formula), sigma, wavenumber)
    if precision is not None:
        c.call("MatKernelSumSetPrecision", address, ctypes.c_int(precision))
    if self is not None:
        c.call("MatKernelSumSetSelf", address, ctypes.c_int(self))
    if type is not None:
        keep = c.real_type()(PETSc.DEFAULT)
        c.call("MatKernelSumSetMethod", address, ctypes.c_int(type), keep if rtol is None else rtol)
    A.setFromOptions()
    A.setUp()
    return A


def gradient(A):
    """The gradients, at the targets, of the sums of a kernel sum.

    Parameters
    ----------
    A : PETSc.Mat
        Of type 'kernelsum'.

    Returns
    -------
    PETSc.Mat
        Of type 'kernelsum' with dim rows for each target: the components next to each other [1/length].
    """
    address, G = c.handle(A, "Mat", "shellac.gradient(): A"), ctypes.c_void_p()
    c.call("MatKernelSumCreateGradient", address, ctypes.byref(G))
    return c.adopt(A, G)


def multiply(A, weights):
    """The sums of a kernel sum as a NumPy array: y = A weights.

    Parameters
    ----------
    A : PETSc.Mat
        Of type 'kernelsum', or any other matrix.
    weights : array_like, shape (n,)
        The weights of this rank's sources. Complex for the kernel 'helmholtz'.

    Returns
    -------
    numpy.ndarray, shape (m,) or, of `gradient`, (m, dim)
        The sums at this rank's targets, complex for the kernel 'helmholtz'.
    """
    from petsc4py import PETSc
    c.handle(A, "Mat", "shellac.multiply(): A")
    with c.temporary(*A.createVecs()) as (x, y):
        real = not numpy.issubdtype(PETSc.ScalarType, numpy.complexfloating)
        interleaved = real and A.getType() == "kernelsum" and x.getBlockSize() == 2
        n = x.getLocalSize() // (2 if interleaved else 1)
        problem = None
        try:
            weights = _numbers(weights, "shellac.multiply(): weights")
            if weights.shape != (n,):
                raise ValueError(f"shellac.multiply(): weights has shape {weights.shape}; this rank has {n} sources, so "
                                 f"it must be ({n},)")
            if numpy.iscomplexobj(weights) and real and not interleaved:
                raise TypeError("shellac.multiply(): weights is complex, but the sums are real; give its parts one by one")
            weights = weights.astype(complex).view(float) if interleaved else weights.astype(PETSc.ScalarType)
        except (TypeError, ValueError) as error:
            problem = error
        c.agree(A.comm, problem)
        x.setArray(weights)
        A.mult(x, y)
        values = y.getArray().copy()
        dim = y.getBlockSize() // (2 if interleaved else 1)
    if interleaved:
        values = values.view(complex)
    return values.reshape(-1, dim) if dim > 1 else values
