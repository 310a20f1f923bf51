#!/usr/bin/env bash
# Runs Shellac's tests and benchmarks on this host's GPUs, or any command in their environment.
# usage: run.sh            the tests on 1 to 4 ranks, then the benchmarks
#        run.sh tests|bench
#        run.sh exec COMMAND ...
# The ranks share the GPUs there are. CUDA's libraries come from CUDA_HOME (default: /usr/local/cuda).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH=$here/lib:$here/openmpi/lib:${CUDA_HOME:-/usr/local/cuda}/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH=$here/openmpi/bin:$PATH
export OPAL_PREFIX=$here/openmpi PMIX_PREFIX=$here/openmpi PRTE_PREFIX=$here/openmpi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export SHELLAC_LIBRARY=$here/lib/libshellac.so
# this MPI is not CUDA-aware: PETSc must not hand it device memory
export PETSC_OPTIONS="-use_gpu_aware_mpi 0 ${PETSC_OPTIONS:-}"

run_tests() {
  for ranks in 1 2 3 4; do
    echo "== tests, CUDA vectors, $ranks ranks"
    PETSC_OPTIONS="$PETSC_OPTIONS -vec_type cuda -dm_vec_type cuda" mpiexec -n "$ranks" "$here/bin/shellac_tests"
  done
  echo "== tests, host vectors, 2 ranks"
  mpiexec -n 2 "$here/bin/shellac_tests"
}
run_bench() {
  echo "== benchmarks, one GPU"
  "$here/bin/shellac_bench" -dm_vec_type cuda -sizes 512,1024,2048,4096,8192,16384 -seed_table
  "$here/bin/shellac_bench" -dm_vec_type cuda -dims 3 -sizes 128,256,512 -aij_max 128
  echo "== benchmarks, host, 2 ranks"
  mpiexec -n 2 "$here/bin/shellac_bench" -sizes 512,2049
  echo "== benchmarks of kernel sums"
  "$here/bin/shellac_bench_sums" -vec_type cuda
  "$here/bin/shellac_bench_sums" -host
  echo "== benchmarks of Burgers' equation"
  "$here/bin/shellac_bench_burgers" -dm_vec_type cuda -sizes 1000000,134217728
}

case ${1:-all} in
  all) run_tests && run_bench ;;
  tests) run_tests ;;
  bench) run_bench ;;
  exec) shift && exec "$@" ;;
  *) echo "run.sh: '$1' is unknown; use tests, bench or exec COMMAND" >&2 && exit 2 ;;
esac
