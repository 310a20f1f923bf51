"""Vectors as arrays that share their memory: of NumPy on the host, of CuPy or PyTorch on a GPU."""

import importlib

import numpy

from . import functions as c


def _on_gpu(v):
    """Whether a vector's values are on a GPU. Those of a CUDA vector that are on the host are copied there."""
    if "cuda" in v.getType() and not v.boundToCPU():
        v.restoreCUDAHandle(v.getCUDAHandle())
    return v.__dlpack_device__()[0] != 1  # kDLCPU


def _for_gpu():
    for name in ("cupy", "torch"):
        try:
            return importlib.import_module(name)
        except ImportError:
            pass
    raise ImportError("shellac.asarray(): v is on a GPU, and neither CuPy nor PyTorch is installed; v.getArray() copies it "
                      "to the host")


def asarray(v, module=None):
    """This rank's values of a vector as an array that shares the vector's memory.

    Ask for the array anew before writing to it: that is when PETSc learns that the values change, and where they are.

    Parameters
    ----------
    v : PETSc.Vec
        A vector on the host or on a GPU.
    module : module, optional
        Whose array is wanted: numpy, cupy, torch, or another one with a function from_dlpack(). By default numpy on the
        host, and on a GPU cupy, or torch where there is no cupy.

    Returns
    -------
    numpy.ndarray, cupy.ndarray or torch.Tensor, shape (n,)
        The values, in the order of the vector. Work on a GPU is ordered by CUDA's default stream.
    """
    c.handle(v, "Vec", "shellac.asarray(): v")
    on_gpu = _on_gpu(v)
    if module is None:
        module = _for_gpu() if on_gpu else numpy
    if module is numpy:
        if on_gpu:
            raise TypeError("shellac.asarray(): v is on a GPU, where NumPy has no arrays; v.getArray() copies "
                            "it to the host")
        values = v.getArray()
        v.stateIncrease()  # else PETSc learns of changes, for a norm that it keeps, only when the array is gone
        return values
    try:
        return module.from_dlpack(v)
    except Exception as problem:
        from petsc4py import PETSc
        raise TypeError(f"shellac.asarray(): {getattr(module, '__name__', module)} does not take v, of "
                        f"{PETSc.ScalarType.__name__} on {'a GPU' if on_gpu else 'the host'}: {problem}") from problem
