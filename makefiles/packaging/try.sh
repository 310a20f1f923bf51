#!/usr/bin/env bash
# Gets Shellac in one WAY of README.md, and solves −Δu = 1 on the unit square with it: the largest u is 0.07367.
# It installs packages: for a new Debian 12, as root. This runs it in one that is in a folder of its own:
#   bash .ci/new-machine 'makefiles/packaging/try.sh WAY'
# usage: try.sh WAY [FOLDER]     works in FOLDER (default: /tmp/shellac-WAY); WAY is one of
#   source     the front page's commands for CMake into a prefix, and its program in C
#   petsc      PETSc's configure, with the patch, in PETSc's source from PyPI
#   pip        a virtual environment with Debian's PETSc and petsc4py
#   pypi       a virtual environment with PyPI's
#   sdist      as pip, from the archive that Python's build makes
#   container  the steps of the Containerfile without CUDA
set -euo pipefail
way=${1:?usage: try.sh WAY [FOLDER]}
folder=${2:-/tmp/shellac-$way}
tree=$(cd "$(dirname "$0")/../.." && pwd)
version=3.26.1 # of PETSc from PyPI
mkdir -p "$folder"
unset PETSC_DIR PETSC_ARCH
CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
export CMAKE_BUILD_PARALLEL_LEVEL OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo

install() {
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "$@" > /dev/null
}
# program LANGUAGE PAGE: the page's first program
program() {
  sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$2" | sed '1d; /^```$/,$d'
}
solve() {
  mpiexec -n 2 "$@" | tee "$folder/output"
  grep -q '^largest u: 0\.07367' "$folder/output"
}
# solve_in_c PKG_CONFIG_PATH
solve_in_c() {
  local flags
  flags=$(PKG_CONFIG_PATH=$1 pkg-config --cflags --libs shellac PETSc)
  program c "$tree/README.md" > "$folder/poisson.c"
  # shellcheck disable=SC2086 # words
  mpicc "$folder/poisson.c" -o "$folder/poisson" $flags -Wl,-rpath,"$(dirname "$1")" -lm
  solve "$folder/poisson" -ksp_converged_reason
}
solve_in_python() {
  program python "$tree/src/python/README.md" > "$folder/poisson.py"
  solve python3 "$folder/poisson.py"
  python3 -c 'import shellac; print("shellac", shellac.__version__, shellac.library_path())'
}
environment() {
  python3 -m venv "$@" "$folder/venv"
  . "$folder/venv/bin/activate"
  python3 -m pip install --quiet scikit-build-core
}

try_source() {
  make -s -C "$tree/makefiles" packages
  cmake -S "$tree" -B "$folder/build" -DBUILD_TESTING=OFF > /dev/null
  cmake --build "$folder/build" > "$folder/build.out"
  cmake --install "$folder/build" --prefix "$folder/prefix" > /dev/null
  solve_in_c "$(dirname "$(find "$folder/prefix" -name shellac.pc)")"
}
try_petsc() {
  install g++ make cmake git libopenmpi-dev openmpi-bin liblapack-dev libblas-dev python3-pip patch pkg-config
  cd "$folder"
  python3 -m pip download --quiet --no-deps --no-binary petsc "petsc==$version"
  tar -xzf "petsc-$version.tar.gz" --strip-components=1
  git -C "$tree" archive --prefix=shellac/ -o "$folder/shellac.tar.gz" HEAD
  cp "$tree/makefiles/packaging/petsc/Shellac.py" config/BuildSystem/config/packages/
  patch -s -p1 < "$tree/makefiles/packaging/petsc/reg.c.patch"
  ./configure PETSC_ARCH=cpu --with-cc=mpicc --with-cxx=mpicxx --with-fc=0 --with-debugging=0 --with-x=0 --with-ssl=0 \
    --with-hwloc=0 --download-shellac="$folder/shellac.tar.gz" > configure.out
  make PETSC_DIR="$folder" PETSC_ARCH=cpu MAKE_NP="$CMAKE_BUILD_PARALLEL_LEVEL" MAKE_LOAD=1000 all > make.out
  solve_in_c "$folder/cpu/lib/pkgconfig"
  # a program of PETSc's knows the types without an option
  make -C src/ksp/ksp/tutorials PETSC_DIR="$folder" PETSC_ARCH=cpu ex45 > /dev/null
  mpiexec -n 2 src/ksp/ksp/tutorials/ex45 -dm_mat_type stencil -pc_type stencilmg -ksp_converged_reason
  mpiexec -n 2 cpu/bin/equation -equation "$tree/examples/equations/poisson.h" -picture none
}
try_pip() {
  make -s -C "$tree/makefiles" packages
  install python3-venv python3-petsc4py
  environment --system-site-packages
  python3 -m pip install --quiet --no-build-isolation "${1:-$tree/src/python}"
  solve_in_python
}
try_pypi() {
  install g++ make cmake libopenmpi-dev openmpi-bin liblapack-dev libblas-dev python3-dev python3-venv
  environment
  export PETSC_CONFIGURE_OPTIONS="--with-fc=0 --with-make-np=$CMAKE_BUILD_PARALLEL_LEVEL --with-make-load=1000"
  python3 -m pip install --quiet "petsc==$version" # petsc4py would build one for itself, and another to be installed
  python3 -m pip install --quiet "petsc4py==$version"
  PETSC_DIR=$(python3 -c "import petsc; print(petsc.get_petsc_dir())")
  export PETSC_DIR
  python3 -m pip install --quiet --no-build-isolation "$tree/src/python"
  solve_in_python
}
try_sdist() {
  install python3-venv
  python3 -m venv "$folder/build"
  "$folder/build/bin/python3" -m pip install --quiet build
  "$folder/build/bin/python3" -m build --sdist --outdir "$folder" "$tree/src/python" > "$folder/build.out"
  try_pip "$(echo "$folder"/shellac-*.tar.gz)"
}
try_container() {
  local step values
  while read -r step values <&3; do
    case $step in
      COPY) mkdir -p "${values#* }" && cp -a "$tree/." "${values#* }" ;;
      RUN) sh -c "$values" ;;
      WORKDIR) mkdir -p "$values" && cd "$values" ;;
      ENV) export "${values?}" ;;
      *) echo "try.sh: no step $step" >&2 && return 1 ;;
    esac
  done 3< <(sed -e '1,/ AS cpu$/d' -e ':join; /\\$/{N; s/\\\n//; b join}' "$tree/makefiles/packaging/Containerfile")
  solve_in_python
}

"try_$way"
echo "$way: solved after $SECONDS s"
