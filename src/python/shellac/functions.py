"""The C interface: a Python function for each function that the public headers declare.

The headers are read, so that nothing is declared twice: types of arguments from the prototypes, values of enumerations
from the library's own lists of their names, docstrings from the manual pages.
"""

import contextlib
import ctypes
import functools
import inspect
import itertools
import re
import zlib

import numpy

from . import library

HEADERS = [library.HERE / "include", library.SOURCE / "include"]  # installed, or the source tree's
OBJECTS = ("Mat", "Vec", "DM", "TS", "PC", "KSP", "PetscViewer")

_text = None
_enumerations = None


def text():
    """All public headers."""
    global _text
    if _text is None:
        folder = next((f for f in HEADERS if f.is_dir()), None)
        if folder is None:
            raise ImportError(f"Shellac's headers are missing from {HEADERS[0]}; install the package again")
        _text = "\n".join(p.read_text(encoding="utf-8") for p in sorted(folder.rglob("*.h")))
    return _text


def version():
    """Shellac's version, as "1.0.0"."""
    return ".".join(re.findall(r"#define SHELLAC_VERSION_(?:MAJOR|MINOR|SUBMINOR) +(\d+)", text()))


def prototypes():
    """(name, [(type, argument), ...]) of each function, but for those that create, those with communicators, and the
    one that registers the types."""
    for name, arguments in re.findall(r"PETSC_EXTERN\s+PetscErrorCode\s+(\w+)\(([^)]*)\)\s*;", text()):
        if arguments == "void":
            continue
        arguments = re.sub(r"const char \*const \*\*", "Names *", arguments)
        pairs = [re.match(r"\s*(?:const\s+)?(\w+)\s*(\*?)\s*(\w+)\s*(\[\])?\s*$", a) for a in arguments.split(",")]
        arrays = [i for i, p in enumerate(pairs) if p and p[4] and p[1] != "char"]
        if any(pairs[i - 1] is None or pairs[i - 1][1] != "PetscInt" for i in arrays):
            continue  # an array of a length that the page says
        creates = name.startswith(("MatCreate", "DMDACreate"))
        if all(pairs) and not creates and not any(p[1] == "MPI_Comm" for p in pairs):
            yield name, [(p[1] + (p[2] or p[4] or ""), p[3]) for p in pairs]


def names():
    """Names of all functions that `define` makes."""
    return [name for name, _ in prototypes()]


CALLBACKS = {  # types of functions that are given to C: the types of what they get between dim and the result
    "MatLaplaceSource": (),
    "MatLaplaceBoundaryData": ("PetscInt", "PetscBool"),
}
ERR_USER = 83  # PETSC_ERR_USER


def callback(kind, function, what, dof, problems):
    """A Python function f(x, ...) of a point as a C function; its exceptions are appended to problems. None is NULL."""
    types = {"PetscInt": int_type(), "PetscBool": ctypes.c_int}
    middle = [types[t] for t in CALLBACKS[kind]]
    real = ctypes.POINTER(real_type())
    prototype = ctypes.CFUNCTYPE(ctypes.c_int, int_type(), real, *middle, real, ctypes.c_void_p)
    if function is None:
        return prototype()
    if not callable(function):
        raise TypeError(f"{what} is {function!r}; it must be a function of the point x"
                        + (", the axis and whether the side is the upper one" if middle else ""))
    scalar = numpy.dtype(_petsc().ScalarType)
    reals_of_point = dof * scalar.itemsize // numpy.dtype(_petsc().RealType).itemsize

    def called(dim, x, *rest):
        try:
            point = numpy.ctypeslib.as_array(x, (dim,)).copy()
            if middle:
                rest = (rest[0], bool(rest[1]), *rest[2:])
            values = numpy.ctypeslib.as_array(rest[len(middle)], (reals_of_point,)).view(scalar)
            values[:] = function(point, *rest[:len(middle)])
            return 0
        except BaseException as problem:  # must not pass through C
            problems.append(problem)
            return ERR_USER

    return prototype(called)


def _page(name):
    match = re.search(r"/\*@C?\s*\n\s*(" + name + r" - .*?)@\*/", text(), re.S)
    return re.sub(r"(?m)^   ", "", match[1]).rstrip() if match else name


def strings(pointers):
    """The strings of a C array that ends with a null pointer."""
    return [p.decode() for p in itertools.takewhile(lambda p: p is not None, pointers)]


def enumeration(kind):
    """The names of the values of a C enumeration, in its order."""
    global _enumerations
    if _enumerations is None:
        _enumerations = {}
        for array in re.findall(r"PETSC_EXTERN\s+const\s+char\s*\*\s*const\s+(\w+)\[\]", text()):
            try:
                words = strings(ctypes.cast(ctypes.addressof(ctypes.c_char.in_dll(library.ready(), array)),
                                            ctypes.POINTER(ctypes.c_char_p)))
            except ValueError:  # a header that is newer than the library
                continue
            _enumerations[words[-2]] = words[:-2]  # values, then the type's name, then the constants' prefix
    return _enumerations[kind]


def is_enumeration(kind):
    return re.search(r"\}\s*" + kind + r";", text()) is not None


def value_of(kind, value, what):
    """The number of an enumeration's value by its name."""
    allowed = enumeration(kind)
    if isinstance(value, str) and value.lower() in allowed:
        return allowed.index(value.lower())
    raise ValueError(f"{what} is {value!r}; use one of {', '.join(map(repr, allowed))}")


def values_of(kind, values, what):
    """An array of the numbers of an enumeration's values: of a sequence of names, or of one."""
    if isinstance(values, str):
        values = [values]
    try:
        values = list(values)
    except TypeError:
        raise TypeError(f"{what} is {values!r}; it must be a name or a sequence of names") from None
    return numpy.array([value_of(kind, v, what) for v in values], dtype=numpy.intc)


def _petsc():
    from petsc4py import PETSc
    return PETSc


def call(name, *arguments):
    """Calls a C function with ctypes arguments. An error code becomes a PETSc.Error."""
    code = getattr(library.ready(), name)(*arguments)
    if code:
        raise _petsc().Error(code)


def handle(value, kind, what):
    """The address of a petsc4py object."""
    PETSc = _petsc()
    wanted = PETSc.Viewer if kind == "PetscViewer" else getattr(PETSc, kind)
    if not isinstance(value, wanted):
        raise TypeError(f"{what} is a {type(value).__name__}; it must be a petsc4py.PETSc.{wanted.__name__}")
    if not value.handle:
        raise ValueError(f"{what} has not been created yet")
    return ctypes.c_void_p(value.handle)


def real_type():
    return numpy.ctypeslib.as_ctypes_type(_petsc().RealType)


@functools.lru_cache(maxsize=None)
def _complex_of(real):
    return type("Complex", (ctypes.Structure,), {"_fields_": [("re", real), ("im", real)]})


def complex_type():
    """A structure that is passed as C's complex numbers are."""
    return _complex_of(real_type())


def int_type():
    return numpy.ctypeslib.as_ctypes_type(_petsc().IntType)


def _convert(value, kind):
    if kind == "PetscBool":
        if value not in (True, False):
            raise TypeError
        return ctypes.c_int(bool(value))
    if kind == "PetscInt":
        if int(value) != value:
            raise TypeError
        return int_type()(int(value))
    if kind == "PetscScalar" and numpy.issubdtype(_petsc().ScalarType, numpy.complexfloating):
        return complex_type()(complex(value).real, complex(value).imag)
    return real_type()(float(value))


def number(value, kind, what):
    """A PetscInt, PetscReal, PetscScalar or PetscBool."""
    try:
        made = _convert(value, kind)
    except (TypeError, ValueError, OverflowError):
        words = {"PetscBool": "True or False", "PetscInt": "an integer"}.get(kind, "a number")
        raise TypeError(f"{what} is {value!r}; it must be {words}") from None
    if kind == "PetscInt" and made.value != value:  # ctypes wraps around
        bits = 8 * ctypes.sizeof(made)
        raise ValueError(f"{what} is {value!r}; the integers of this PETSc have {bits} bits: give one from "
                         f"{-2**(bits - 1)} to {2**(bits - 1) - 1}")
    return made


def plain(values, what):
    """A NumPy array; an error for masked values, whose numbers numpy.asarray() would take."""
    if numpy.ma.is_masked(values):
        raise TypeError(f"{what} has masked values; leave them out or fill them")
    return numpy.asarray(values)


def encoded(text, what):
    """A string as C takes it."""
    if "\0" in text:
        raise ValueError(f"{what} is {text!r}; it must not contain the character 0, where C ends it")
    return text.encode()


def reals(values, what):
    """An array of PetscReals and its length."""
    try:
        array = numpy.ascontiguousarray(numpy.atleast_1d(plain(values, what)), dtype=_petsc().RealType)
    except (TypeError, ValueError):
        raise TypeError(f"{what} is {values!r}; it must be a sequence of numbers") from None
    if array.ndim != 1:
        raise ValueError(f"{what} has {array.ndim} dimensions; it must be a sequence of numbers")
    return array


def adopt(owner, pointer):
    """A petsc4py object for one that C has created on an owner's ranks: composed with a third, asked for, released."""
    with temporary(_petsc().Vec().create(comm=owner.comm)) as holder:
        key = b"shellac_new"
        call("PetscObjectCompose", ctypes.c_void_p(holder.handle), key, pointer)
        made = holder.query(key.decode())
        call("PetscObjectDereference", pointer)
        return made


def grid_of_equation(text, sizes):
    """The DMDA, of all ranks, that an equation's text makes, with the equation. sizes: none for those of the library"""
    PETSc = _petsc()
    what = "shellac.Equation(): text"
    with temporary(PETSc.Vec().create(comm=PETSc.COMM_WORLD)) as owner:
        comm, made = ctypes.c_void_p(), ctypes.c_void_p()
        call("PetscObjectGetComm", ctypes.c_void_p(owner.handle), ctypes.byref(comm))
        call("DMDACreateFromEquation", comm, encoded(text, what), int_type()(len(sizes)),
             (int_type() * len(sizes))(*sizes) if sizes else None, ctypes.byref(made))
        return adopt(owner, made)


def _output(kind):
    if kind == "Mat":
        return ctypes.c_void_p()
    if kind == "PetscScalar" and numpy.issubdtype(_petsc().ScalarType, numpy.complexfloating):
        return complex_type()()
    if kind == "Names":
        return ctypes.POINTER(ctypes.c_char_p)()
    if kind == "PetscBool" or is_enumeration(kind):
        return ctypes.c_int()
    return {"PetscInt": int_type}.get(kind, real_type)()()


def _result(kind, value, owner):
    """What Python gets for an output."""
    if kind == "Mat":
        return adopt(owner, value)
    if isinstance(value, complex_type()):
        return complex(value.re, value.im)
    if kind == "Names":
        return strings(value)
    if is_enumeration(kind):
        return enumeration(kind)[value.value]
    return bool(value.value) if kind == "PetscBool" else value.value


def _function(name, arguments):
    # an array is preceded by its length, which Python knows; a function has its own context
    arrays = {i for i, (kind, _) in enumerate(arguments) if kind.endswith("[]") and kind != "char[]"}
    skip = {i - 1 for i in arrays}
    inputs = [a for i, a in enumerate(arguments) if i not in skip and not a[0].endswith("*")]

    # an error before the call is one of all ranks, where all have to call
    collective = not re.search(r"^\s*Not Collective", _page(name), re.M)
    has_object = any(kind in OBJECTS for kind, _ in inputs)

    def convert(values, outputs, converted, stored, problems):
        if len(values) != len(inputs):
            raise TypeError(f"{name}() takes {len(inputs)} arguments ({', '.join(a for _, a in inputs)}), "
                            f"{len(values)} were given")
        given = iter(values)
        for i, (kind, argument) in enumerate(arguments):
            what = f"{name}(): {argument}"
            if i in skip:
                continue
            if kind == "void*":
                converted.append(None)
                continue
            if kind.endswith("*"):
                outputs.append((kind[:-1], _output(kind[:-1])))
                converted.append(ctypes.byref(outputs[-1][1]))
                continue
            value = next(given)
            if kind in OBJECTS:
                converted.append(handle(value, kind, what))
            elif kind == "char[]":
                if not isinstance(value, str):
                    raise TypeError(f"{what} is {value!r}; it must be a string")
                converted.append(encoded(value, what))
            elif i in arrays:
                stored.append(reals(value, what) if kind == "PetscReal[]" else values_of(kind[:-2], value, what))
                converted += [int_type()(len(stored[-1])), ctypes.c_void_p(stored[-1].ctypes.data)]
            elif kind in CALLBACKS:
                stored.append(callback(kind, value, what, max(values[0].getBlockSize(), 1), problems))
                converted.append(stored[-1])
            elif is_enumeration(kind):
                converted.append(ctypes.c_int(value_of(kind, value, what)))
            else:
                converted.append(number(value, kind, what))

    def function(*values):
        outputs, converted, stored, problems, problem = [], [], [], [], None
        try:
            convert(values, outputs, converted, stored, problems)
        except (TypeError, ValueError) as error:
            problem = error
        agree((comm_of(values) if has_object else _petsc().COMM_WORLD) if collective else None, problem)
        if not hasattr(library.ready(), name):
            raise NotImplementedError(f"{library.library_path()} has no {name}(); it is older than this package")
        try:
            call(name, *converted)
        except _petsc().Error as error:
            raise problems[0] if problems else error from None
        results = [_result(kind, value, next(iter(values), None)) for kind, value in outputs]
        return None if not results else results[0] if len(results) == 1 else tuple(results)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "shellac"
    function.__signature__ = inspect.Signature(
        [inspect.Parameter(argument, inspect.Parameter.POSITIONAL_ONLY) for _, argument in inputs])
    function.__doc__ = ("Outputs are returned, values of enumerations are strings. The C function's manual page:\n\n"
                        f"{_page(name)}\n")
    return function


@functools.lru_cache(maxsize=None)
def define():
    """A dictionary of all functions by their names."""
    return {name: _function(name, arguments) for name, arguments in prototypes()}


def ready_type(obj, kind):
    """Sets a type of the library's, which it registers if need be."""
    library.ready()
    obj.setType(kind)


class temporary_options:
    """Options of the database for as long as a with block lasts; what the user has given is left as it is."""

    def __init__(self, prefix, values):
        self.database = _petsc().Options()
        self.given = {prefix + key: value for key, value in values.items() if value is not None}

    def __enter__(self):
        self.made = [key for key in self.given if not self.database.hasName(key)]
        for key in self.made:
            self.database[key] = self.given[key]

    def __exit__(self, *_):
        for key in self.made:
            self.database.delValue(key)


@contextlib.contextmanager
def temporary(*objects):
    """PETSc objects that are destroyed at the end of a with block: old versions of petsc4py keep those that are not."""
    try:
        yield objects[0] if len(objects) == 1 else objects
    finally:
        for one in objects:
            one.destroy()


def any_rank(comm, flag, /):
    """Whether a flag is set on any rank."""
    if comm.getSize() == 1:
        return bool(flag)
    with temporary(_petsc().Vec().createMPI((1, None), comm=comm)) as flags:
        flags.set(1 if flag else 0)
        return flags.max()[1] > 0


def comm_of(arguments):
    """The communicator of the first PETSc object among them; None without one, since its ranks are then unknown."""
    return next((a.comm for a in arguments if isinstance(a, _petsc().Object) and a.handle), None)


def agree(comm, problem, /, **same):
    """Raises a problem of any rank, an exception or None, on all ranks: none is left waiting for another. Without a
    communicator, on this rank alone.

    Further arguments are numbers or texts that must be the same on all ranks, by what an error calls them."""
    if comm is None:
        if problem is not None:
            raise problem
        return
    if any_rank(comm, problem is not None):
        raise problem or ValueError("another rank has an error in the arguments of this call")
    if comm.getSize() > 1:
        with temporary(_petsc().Vec().createMPI((1, None), comm=comm)) as numbers:
            for name, value in same.items():
                numbers.set(zlib.crc32(value.encode()) & 0xFFFFFF if isinstance(value, str) else value)
                if numbers.min()[1] != numbers.max()[1] and problem is None:
                    problem = ValueError(f"{name} must be the same on all ranks; this one has {value}")
    if problem is not None:
        raise problem


def named_keywords(function):
    """A function whose error for an unknown keyword names those that there are; it is one of all ranks."""
    signature = inspect.signature(function)
    allowed = [p.name for p in signature.parameters.values() if p.kind == p.KEYWORD_ONLY]

    @functools.wraps(function)
    def checked(*arguments, **keywords):
        problem, name = None, f"shellac.{function.__name__}()"
        unknown = [key for key in keywords if key not in signature.parameters]
        if unknown:
            problem = TypeError(f"{name} got an unexpected keyword argument {unknown[0]!r}; use one of "
                                + ", ".join(allowed))
        else:
            try:
                signature.bind(*arguments, **keywords)
            except TypeError as error:
                problem = TypeError(f"{name}: {error}")
        objects = (*arguments, *keywords.values())
        agree(petsc_comm(keywords.get("comm")) if "comm" in allowed else comm_of(objects), problem)
        return function(*arguments, **keywords)

    return checked


def petsc_comm(comm):
    """A PETSc.Comm of one or of mpi4py's; None is all ranks."""
    PETSc = _petsc()
    if comm is None:
        return PETSc.COMM_WORLD
    return comm if isinstance(comm, PETSc.Comm) else PETSc.Comm(comm)
