#!/usr/bin/env bash
# Packs a CUDA build and all that it needs but the CUDA libraries into one archive, for a GPU host without network.
# usage: bundle.sh BUILD_FOLDER ARCHIVE.tgz      (PETSC_DIR and PETSC_ARCH as the build was configured with)
set -euo pipefail

build=$1
archive=$2
name=shellac-cuda
here=$(cd "$(dirname "$0")" && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mpi=$(dirname "$(dirname "$(pkg-config --variable=cxxcompiler "$PETSC_DIR/$PETSC_ARCH/lib/pkgconfig/PETSc.pc" 2> /dev/null ||
  pkg-config --variable=cxxcompiler "$PETSC_DIR/$PETSC_ARCH/lib/pkgconfig/petsc.pc")")")

mkdir -p "$stage/$name/lib" "$stage/$name/openmpi/bin" "$stage/$name/openmpi/lib"
cp -P "$build"/lib/libshellac.so* "$stage/$name/lib"
cp -r "$build/bin" "$stage/$name/bin"
cp -P "$PETSC_DIR/$PETSC_ARCH"/lib/libpetsc.so* "$stage/$name/lib"
# libraries of this system that a GPU host may lack: all but the C and C++ run time, CUDA's, and what is copied anyway
{ ldd "$PETSC_DIR/$PETSC_ARCH/lib/libpetsc.so" "$build"/bin/* 2> /dev/null || true; } | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
  { grep -vE "^($mpi|$PETSC_DIR|$(realpath "$build"))/|/lib(c|m|dl|rt|util|pthread|stdc\+\+|gcc_s|cuda|cudart|cublas|cublasLt|cufft|cusparse|cusolver|curand|nvrtc|nvJitLink|nvToolsExt|nccl)\.so" || true; } |
  xargs -I{} cp -L {} "$stage/$name/lib"
cp -P "$mpi"/lib/lib*.so* "$stage/$name/openmpi/lib"
cp -r "$mpi/lib/openmpi" "$stage/$name/openmpi/lib"
cp -r "$mpi/share" "$stage/$name/openmpi"
cp -P "$mpi"/bin/{mpi*,prte*,prun*,ompi*} "$stage/$name/openmpi/bin" 2> /dev/null || true
find "$stage" -name '*.so*' -type f -exec strip --strip-unneeded {} + 2> /dev/null || true
cp "$here/bundle-run.sh" "$stage/$name/run.sh"
cp "$here/../LICENSE" "$stage/$name"
cp -r "$here/../examples/equations" "$stage/$name/equations"

mkdir -p "$(dirname "$archive")"
tar -C "$stage" -czf "$archive" "$name"
size=$(($(stat -c %s "$archive") / 1000000))
echo "$archive: $size MB"
[ "$size" -le 60 ] || { echo "bundle: the archive is larger than 60 MB" >&2; exit 1; }
