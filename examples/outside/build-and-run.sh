#!/usr/bin/env bash
# Builds the applications against an installed Shellac in three ways, and runs each on two MPI ranks.
# usage: build-and-run.sh PREFIX
# Environment: PETSC_DIR, PETSC_ARCH  the PETSc that Shellac was built with (default: what pkg-config finds)
#              MPIEXEC                how to start MPI programs             (default: PETSc's own)
# Works in a temporary folder. Fails, and says where, as soon as one way fails.
set -euo pipefail

if [ $# -ne 1 ] || [ ! -e "$1/include/shellac.h" ]; then
  echo "build-and-run: usage: build-and-run.sh PREFIX, where PREFIX/include/shellac.h is" >&2
  exit 1
fi
prefix=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")" && pwd)
export PETSC_DIR=${PETSC_DIR:-$(pkg-config --variable=prefix PETSc)} PETSC_ARCH=${PETSC_ARCH:-}
for folder in "$prefix"/lib/pkgconfig "$prefix"/lib64/pkgconfig "$prefix"/lib/*/pkgconfig \
  "$PETSC_DIR/$PETSC_ARCH/lib/pkgconfig" "$PETSC_DIR/lib/pkgconfig"; do
  if [ -d "$folder" ]; then PKG_CONFIG_PATH=${PKG_CONFIG_PATH:+$PKG_CONFIG_PATH:}$folder; fi
done
export PKG_CONFIG_PATH
# root in a container, and more ranks than cores, are fine
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
if [ -z "${MPIEXEC:-}" ]; then
  MPIEXEC=$(sed -n 's/^MPIEXEC *= *//p' "$PETSC_DIR/$PETSC_ARCH/lib/petsc/conf/petscvariables")
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
way=
trap 'echo "build-and-run: failed with $way" >&2' ERR

build_cmake() {
  cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" && cmake --build build && cp build/app build/plate .
}
build_pkgconfig() { make -f makefile.pkgconfig; }
build_petsc() { make -f makefile.petsc app plate SHELLAC_DIR="$prefix"; }

for way in cmake pkgconfig petsc; do
  mkdir "$folder/$way"
  cp "$source/app.c" "$source/plate.cpp" "$source/CMakeLists.txt" "$source"/makefile.* "$folder/$way"
  cd "$folder/$way"
  if ! "build_$way" > log 2>&1; then
    tail -n 30 log >&2
    false
  fi
  for program in app plate; do
    printf '%-10s %-6s ' "$way" "$program"
    $MPIEXEC -n 2 "./$program"
  done
done

way=equation # the program of the installation finds its library
if [ -x "$prefix/bin/equation" ]; then
  cd "$folder"
  echo "residual = -laplacian(u) - 1" > plate.h
  printf '%-17s ' equation
  $MPIEXEC -n 2 "$prefix/bin/equation" -equation plate.h -picture none -dm_mat_type stencil -pc_type stencilmg
fi
