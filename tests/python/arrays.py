"""Vectors as arrays that share their memory, on any number of ranks; on GPUs with CuPy, PyTorch and a PETSc with CUDA."""

import importlib
import sys
import types
import unittest.mock

import numpy as np
import petsc4py

petsc4py.init(sys.argv[:1] + ["-use_gpu_aware_mpi", "0"])
import shellac
from petsc4py import PETSc

rank = PETSc.COMM_WORLD.getRank()


class OnHosts(unittest.TestCase):
    def setUp(self):
        self.x = PETSc.DMDA().create([9, 12], stencil_width=1).createGlobalVec()
        self.x.setRandom()

    def test_arrays_share_the_memory_of_vectors(self):
        other = types.SimpleNamespace(__name__="other", from_dlpack=np.from_dlpack)
        values, before = self.x.getArray(), self.x.sum()
        self.assertTrue(np.shares_memory(shellac.asarray(self.x), values))
        if values.dtype.kind == "c":
            self.assertRaisesRegex(TypeError, "other does not take v, of complex", shellac.asarray, self.x, other)
        else:
            self.assertTrue(np.shares_memory(shellac.asarray(self.x, other), values))
        shellac.asarray(self.x)[:] += 1
        self.assertAlmostEqual(self.x.sum(), before + 9 * 12)
        del values
        self.x.norm()  # which PETSc keeps
        (values := shellac.asarray(self.x))[:] = 2
        self.assertAlmostEqual(self.x.norm(), 2 * np.sqrt(9 * 12))

    def test_arrays_on_a_gpu(self):
        v = type("OnGpu", (PETSc.Vec,), {"__dlpack_device__": lambda v: (2, 0)})().createSeq(3)
        cupy = types.SimpleNamespace(from_dlpack=lambda v: ("of CuPy", v))
        for modules in ({"cupy": cupy}, {"cupy": None, "torch": cupy}):
            with unittest.mock.patch.dict(sys.modules, modules):
                self.assertEqual(shellac.asarray(v), ("of CuPy", v))
        with unittest.mock.patch.dict(sys.modules, cupy=None, torch=None):
            self.assertRaisesRegex(ImportError, "neither CuPy nor PyTorch is installed; v.getArray", shellac.asarray, v)
        self.assertRaisesRegex(TypeError, "on a GPU, where NumPy has no arrays", shellac.asarray, v, np)


@unittest.skipUnless(PETSc.Sys.hasExternalPackage("cuda"), "PETSc has no CUDA")
class OnGpus(unittest.TestCase):
    def setUp(self):
        da = PETSc.DMDA().create([20, 17], stencil_width=1, setup=False)
        da.setVecType("cuda")
        da.setUp()
        self.A = shellac.laplace(da)
        self.x, self.b = self.A.createVecs()

    def check(self, name):
        try:
            module = importlib.import_module(name)
        except ImportError:
            self.skipTest(f"{name} is not installed")
        array, handle = shellac.asarray(self.x, module), self.x.getCUDAHandle("rw")
        self.x.restoreCUDAHandle(handle, "rw")
        self.assertEqual(handle, array.data_ptr() if name == "torch" else array.data.ptr)
        array[:] = 0
        array[3:7] = 2
        ranks = self.x.comm.size
        self.assertAlmostEqual(self.x.norm(), 4 * np.sqrt(ranks))
        shellac.asarray(self.x, module)[3:7] = 3  # a norm that PETSc keeps is given up
        self.assertAlmostEqual(self.x.norm(), 6 * np.sqrt(ranks))
        self.A.mult(self.x, self.b)
        values = self.b.getArray()
        np.testing.assert_array_equal([float(v) for v in shellac.asarray(self.b, module)], values)

    def test_cupy(self):
        self.check("cupy")

    def test_torch(self):
        self.check("torch")

    def test_numpy_has_no_arrays_on_a_gpu(self):
        self.assertRaisesRegex(TypeError, "on a GPU, where NumPy has no arrays", shellac.asarray, self.x, np)


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], exit=False, verbosity=1 if rank == 0 else 0)
    failed = PETSc.Vec().createMPI((1, None))
    failed.set(0 if program.result.wasSuccessful() else 1)
    sys.exit(1 if failed.max()[1] else 0)
