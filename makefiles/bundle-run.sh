#!/usr/bin/env bash
# Runs Shellac's tests and benchmarks on this host's GPUs, or any command in their environment.
# usage: run.sh            the tests, then the benchmarks of operators and multigrid: within ten minutes on one GPU
#        run.sh tests      on as many ranks as there are GPUs, 4 at most; what is about ranks on 2 at least
#        run.sh ranks      what is about ranks on 2 and 3, with CUDA and host vectors; GPUs are shared, which is slow
#        run.sh bench [PART ...]      parts: operators captured multigrid krylov direct sums burgers equations tutorials
#        run.sh exec COMMAND ...
# CUDA's libraries come from CUDA_HOME (default: /usr/local/cuda).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH=$here/lib:$here/openmpi/lib:${CUDA_HOME:-/usr/local/cuda}/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH=$here/openmpi/bin:$PATH
export OPAL_PREFIX=$here/openmpi PMIX_PREFIX=$here/openmpi PRTE_PREFIX=$here/openmpi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMP_NUM_THREADS=1
export SHELLAC_LIBRARY=$here/lib/libshellac.so
export SHELLAC_EQUATIONS=$here/equations # texts of tests and benchmarks
# this MPI is not CUDA-aware: PETSc must not hand it device memory
export PETSC_OPTIONS="-use_gpu_aware_mpi 0 -options_left 0 ${PETSC_OPTIONS:-}"

gpus=$(nvidia-smi -L 2> /dev/null | grep -c '^GPU' || true)
about_ranks='[#grid],[#device],[#capture_device]' # halos, and vectors on GPUs that ranks share

failed=
# Test files run beside each other: most of their time is the host's.
files_at_once=${SHELLAC_FILES_AT_ONCE:-$((($(getconf _NPROCESSORS_ONLN) + 1) / 2))}

# test_file RANKS FILE: a line where it passes, all output where it does not
test_file() {
  local output start=$SECONDS
  if output=$(mpiexec --bind-to none -n "$1" "$here/bin/shellac_tests" -# "$2" 2>&1); then
    echo "passed in $((SECONDS - start)) s: $2 $(tail -n 2 <<< "$output" | tr -d '\n')"
  else
    echo "FAILED: $2" && echo "$output"
    return 1
  fi
}
export -f test_file
export here

# test_on RANKS WHERE TESTS [PETSc options]: WHERE is for the reader; no TESTS: all
test_on() {
  local ranks=$1 where=$2 tests=$3
  shift 3
  echo "== tests ${tests:-all}, $where, $ranks rank(s), $files_at_once file(s) at once ($SECONDS s)"
  local files # the exit status of a list is the number of its entries
  files=$({ "$here/bin/shellac_tests" -# --list-tags ${tests:+"$tests"} || true; } | grep -o '\[#.*\]') || failed=1
  PETSC_OPTIONS="$PETSC_OPTIONS $*" xargs -r -P "$files_at_once" -I{} bash -c 'test_file "$@"' - "$ranks" {} <<< "$files" ||
    failed=1
}
run_tests() {
  local cuda='-vec_type cuda -dm_vec_type cuda' ranks
  if [ "$gpus" -eq 0 ]; then
    echo "== no GPU: host vectors alone"
    test_on 1 "host vectors" ''
  else
    for ranks in 1 2 4; do
      if [ "$ranks" -eq 1 ] || [ "$ranks" -le "$gpus" ]; then test_on "$ranks" "CUDA vectors" '' "$cuda"; fi
    done
    if [ "$gpus" -eq 1 ]; then test_on 2 "CUDA vectors, a GPU shared" '[#grid],[#device]' "$cuda"; fi
  fi
  echo "== tests end ($SECONDS s)"
}
run_ranks() {
  for ranks in 2 3; do
    test_on "$ranks" "CUDA vectors" "$about_ranks" '-vec_type cuda -dm_vec_type cuda'
    test_on "$ranks" "host vectors" "$about_ranks"
  done
}
run_bench() { "$here/bin/bench.sh" -cuda "$@"; }

case ${1:-all} in
  all)
    run_tests
    run_bench operators -- -seconds 0.2
    run_bench multigrid -- -seconds 0.05 -aij_max 0 # assembled matrices would take minutes
    echo "== end ($SECONDS s)" ;;
  tests) run_tests ;;
  ranks) run_ranks ;;
  bench) shift && run_bench "$@" ;;
  exec) shift && exec "$@" ;;
  *) echo "run.sh: '$1' is unknown; use tests, ranks, bench or exec COMMAND" >&2 && exit 2 ;;
esac
[ -z "$failed" ] || { echo "run.sh: tests failed" >&2; exit 1; }
