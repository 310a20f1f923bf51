"""Finds libshellac.so, loads it, and registers its types with petsc4py's PETSc."""

import ctypes
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[2]  # the root of the source tree, where this is the source tree's package

_library = None  # the ctypes.CDLL
_path = None
_ready = False  # types are registered


def _candidates():
    if os.environ.get("SHELLAC_LIBRARY"):
        return [Path(os.environ["SHELLAC_LIBRARY"])]
    found = [HERE / "lib" / "libshellac.so",  # installed by pip
             HERE.parents[1] / "libshellac.so"]  # installed by CMake: <prefix>/lib/python/shellac
    if (SOURCE / "src" / "python" / "shellac").is_dir():
        builds = sorted(SOURCE.glob("build/*/lib/libshellac.so"), key=lambda p: p.stat().st_mtime, reverse=True)
        found += [SOURCE / "build" / "default" / "lib" / "libshellac.so"] + builds
    return found


def library_path():
    """The path of the library that this package uses.

    Returns
    -------
    str
        The file that the environment variable ``SHELLAC_LIBRARY`` names, or the one that was installed with this
        package, or a build of the source tree that this package is in.
    """
    global _path
    if _path is None:
        candidates = _candidates()
        _path = next((str(p.absolute()) for p in candidates if p.is_file()), None)
        if _path is None:
            raise ImportError("libshellac.so is not found; set SHELLAC_LIBRARY to its path. Looked at: "
                              + ", ".join(str(p) for p in candidates))
    return _path


def load():
    """Loads the library. Before PETSc is initialised, PETSc is told to register the library's types then."""
    global _library
    if _library is not None:
        return
    try:
        library = ctypes.CDLL(library_path())
    except OSError as error:
        raise ImportError(f"cannot load {library_path()}: {error}") from None
    _library = library
    PETSc = sys.modules.get("petsc4py.PETSc")
    if PETSc is not None and PETSc.Sys.isInitialized():
        ready()
    else:  # as -dll_append on the command line, which petsc4py.init() reads
        library.PetscOptionsSetValue.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
        library.PetscOptionsSetValue(None, b"-dll_append", library_path().encode())


def _describe(library):
    """The scalar type and the size of integers of the PETSc that the library was built with."""
    def data_type(name):
        kind, found, size = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
        library.PetscDataTypeFromString(name, ctypes.byref(kind), ctypes.byref(found))
        library.PetscDataTypeGetSize(kind, ctypes.byref(size))
        return kind.value, size.value
    complex_type = data_type(b"complex")[0]
    kind, size = data_type(b"scalar")
    is_complex = kind == complex_type
    return is_complex, 8 * size // (2 if is_complex else 1), 8 * data_type(b"int")[1]


def _words(is_complex, real_bits, int_bits):
    return f"{'complex' if is_complex else 'real'} scalars of {real_bits} bits and integers of {int_bits}"


def ready():
    """The library, with its types registered; initialises PETSc where nobody has yet.

    Returns
    -------
    ctypes.CDLL
    """
    global _ready
    load()
    if _ready:
        return _library
    import numpy
    from petsc4py import PETSc
    initialized = ctypes.c_int(0)
    _library.PetscInitialized(ctypes.byref(initialized))
    theirs = (numpy.issubdtype(PETSc.ScalarType, numpy.complexfloating), 8 * numpy.dtype(PETSc.RealType).itemsize,
              8 * numpy.dtype(PETSc.IntType).itemsize)
    ours = _describe(_library)
    if not initialized.value or ours != theirs:
        version = ".".join(str(v) for v in PETSc.Sys.getVersion())
        raise ImportError(
            f"{library_path()} was built with another PETSc than petsc4py's. The library's has {_words(*ours)}; "
            f"petsc4py's is PETSc {version} with {_words(*theirs)}. Build Shellac with petsc4py's PETSc "
            "(cmake -DPETSC_DIR=... -DPETSC_ARCH=...) and set SHELLAC_LIBRARY to that libshellac.so")
    code = _library.ShellacInitializePackage()
    if code:
        raise PETSc.Error(code)
    _ready = True
    return _library
