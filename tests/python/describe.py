import matplotlib, numpy
from petsc4py import PETSc
scalar = 'complex' if numpy.issubdtype(PETSc.ScalarType, numpy.complexfloating) else 'real'
print('.'.join(map(str, PETSc.Sys.getVersion())), scalar, 8 * numpy.dtype(PETSc.IntType).itemsize)
