# Spack builds Shellac with this recipe. makefiles/packaging/README.md says how.
import os

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Shellac(CMakePackage, CudaPackage):
    """Matrix-free operators for PETSc on structured grids, multigrid for them, equations as text,
    and sums of kernel functions over particles, on CPUs and NVIDIA GPUs."""

    # An archive in the current folder, until there is one with an address: manual_download goes then
    manual_download = True
    url = f"file://{os.getcwd()}/shellac-1.0.0.tar.gz"

    license("BSD-2-Clause")

    version("1.0.0")

    variant("cairo", default=False, description="Draw the pictures of the program equation by Cairo")
    variant("python", default=False, description="Install what the Python package needs, and put it on PYTHONPATH")

    depends_on("c", type="build")
    depends_on("cxx", type=("build", "run"))  # equations as text are compiled at run time
    depends_on("cmake@3.18:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("petsc@3.18:3.26+mpi+shared+double")
    depends_on("fftw@3:")
    depends_on("cairo+png+svg+pdf+ft+fc", when="+cairo")
    depends_on("catch2@2.13:", type="test")
    with when("+python"):
        depends_on("python", type="run")
        depends_on("py-numpy", type="run")
        depends_on("py-petsc4py", type="run")

    conflicts("cuda_arch=none", when="+cuda", msg="Give the GPU, such as cuda_arch=90")
    depends_on("petsc+cuda", when="+cuda")
    for _arch in CudaPackage.cuda_arch_values:
        depends_on(f"petsc+cuda cuda_arch={_arch}", when=f"+cuda cuda_arch={_arch}")

    def cmake_args(self):
        args = [
            self.define("PETSC_DIR", self.spec["petsc"].prefix),
            self.define("PETSC_ARCH", ""),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            self.define("BUILD_TESTING", self.run_tests),
            self.define("SHELLAC_EXAMPLES", False),
            self.define("SHELLAC_TUTORIALS", False),
            self.define("SHELLAC_RUNTIME_CXX", self.spec["mpi"].mpicxx),  # Spack's own wrapper works in builds only
            self.define_from_variant("SHELLAC_CAIRO", "cairo"),
            self.define_from_variant("SHELLAC_CUDA", "cuda"),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args

    def setup_run_environment(self, env):
        env.set("SHELLAC_DIR", self.prefix)
        if self.spec.satisfies("+python"):
            env.prepend_path("PYTHONPATH", self.prefix.lib.python)
