"""Vectors on GPUs as arrays of CuPy and PyTorch, where these and a PETSc with CUDA are; on any number of ranks."""

import importlib
import sys
import unittest

import numpy as np
import petsc4py

petsc4py.init(sys.argv[:1] + ["-use_gpu_aware_mpi", "0"])
import shellac
from petsc4py import PETSc


@unittest.skipUnless(PETSc.Sys.hasExternalPackage("cuda"), "PETSc has no CUDA")
class Arrays(unittest.TestCase):
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
    unittest.main()
