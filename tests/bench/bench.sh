#!/usr/bin/env bash
# Runs the benchmarks that the figures of the manual come from, each under its command.
#
# usage: bench.sh [-cuda] [PART ...] [-- PETSc options]      (all parts by default, with -cuda all but iterations and solves)
#   parts: operators captured multigrid krylov direct iterations sums solves burgers equations tutorials
#   -cuda: on the GPU, with the sizes of the manual's tables; else on the host, with small ones
# Environment: RANKS    MPI ranks on the host             (2)
#              MPIEXEC  what starts a program on n ranks  (mpiexec)
# The programs lie in the script's own folder.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
ranks=${RANKS:-2} mpiexec=${MPIEXEC:-mpiexec}
cuda= parts=
while [ $# -gt 0 ]; do
  case $1 in
    -cuda) cuda=-cuda ;;
    operators | captured | multigrid | krylov | direct | iterations | sums | solves | burgers | equations | tutorials) parts+=" $1" ;;
    --) shift && break ;;
    *) echo "bench.sh: '$1' is unknown; the script's first lines list the parts and options" >&2; exit 2 ;;
  esac
  shift
done
all='operators captured multigrid krylov direct sums burgers equations tutorials'
[ "$cuda" ] || all+=' iterations solves' # tables that no GPU changes
parts=${parts:-$all}
options=("$@")

# run RANKS PROGRAM OPTIONS...
run() {
  local n=$1 program=$2
  shift 2
  printf '\n$ mpiexec -n %s %s\n' "$n" "$program $* ${options[*]}"
  $mpiexec -n "$n" "$here/$program" "$@" "${options[@]}"
}

operators() {
  if [ "$cuda" ]; then
    run 1 shellac_bench -dm_vec_type cuda -sizes 512,1024,2048,4096,8192,16384 -transfer_table
    run 1 shellac_bench -dm_vec_type cuda -sizes 4097,8191 -aij_max 1
    run 1 shellac_bench -dm_vec_type cuda -dims 3 -sizes 128,256,257,511,512 -aij_max 128
    run 1 shellac_bench -dm_vec_type cuda -sizes 8192,8191 -aij_max 1 -mat_laplace_shape box
    run 1 shellac_bench -dm_vec_type cuda -dims 3 -sizes 256,257,511,512 -aij_max 1 -mat_laplace_shape box
    diffusion 1 -dm_vec_type cuda -sizes 4096
    diffusion 1 -dm_vec_type cuda -dims 3 -sizes 256,257,512
  else
    run "$ranks" shellac_bench -sizes 512,1024,2049
    run "$ranks" shellac_bench -dims 3 -sizes 64,128
    diffusion "$ranks" -sizes 1024
  fi
}
# diffusion RANKS OPTIONS...: with each kind of k
diffusion() {
  local n=$1
  shift
  run "$n" shellac_bench "$@" -aij_max 1 -k points
  run "$n" shellac_bench "$@" -aij_max 1 -k points -mat_diffusion_mean arithmetic
  run "$n" shellac_bench "$@" -aij_max 1 -k faces
}
captured() {
  if [ "$cuda" ]; then
    run 1 shellac_bench_captured -dm_vec_type cuda -sizes 4097 -boxes
    run 1 shellac_bench_captured -dm_vec_type cuda -sizes 4097 -assembly
  else
    run "$ranks" shellac_bench_captured -sizes 1025 -boxes
    run "$ranks" shellac_bench_captured -sizes 1025 -assembly
    run "$ranks" shellac_bench_captured -assembly -boxes -dims 2,3 -dofs 1,2,4
  fi
}
multigrid() {
  if [ "$cuda" ]; then
    run 1 shellac_bench_multigrid -dm_vec_type cuda -sizes 1023,4095,8191,16383 -aij_max 4095
    run 1 shellac_bench_multigrid -dm_vec_type cuda -coefficients smooth -aij_max 1023
    run 1 shellac_bench_multigrid -dm_vec_type cuda -sizes 1023 -coefficients jumps -aij_max 1023
    run 1 shellac_bench_multigrid -dm_vec_type cuda -dim 3 -sizes 127,255,511 -aij_max 127
    run 1 shellac_bench_multigrid -dm_vec_type cuda -dim 3 -coefficients smooth
    run 1 shellac_bench_multigrid -dm_vec_type cuda -dim 3 -sizes 127 -coefficients jumps
  else
    run "$ranks" shellac_bench_multigrid -sizes 511,1023,2047 -aij_max 1023
    run "$ranks" shellac_bench_multigrid -sizes 511 -coefficients smooth -aij_max 511
    run "$ranks" shellac_bench_multigrid -sizes 511 -coefficients jumps -aij_max 511
    run "$ranks" shellac_bench_multigrid -dim 3 -sizes 65 -aij_max 65
    run "$ranks" shellac_bench_multigrid -dim 3 -sizes 65 -coefficients smooth -aij_max 65
  fi
}
krylov() {
  if [ "$cuda" ]; then
    run 1 shellac_bench_krylov -dm_vec_type cuda -sizes 255,1023,2047,4095,8191 -pc jacobi
    run 1 shellac_bench_krylov -dm_vec_type cuda -sizes 255,1023,4095 -pc stencilmg
    run 1 shellac_bench_krylov -dm_vec_type cuda -dim 3 -sizes 127,255 -pc jacobi
  else
    run "$ranks" shellac_bench_krylov
  fi
}
direct() {
  if [ "$cuda" ]; then
    run 1 shellac_bench_direct -dm_vec_type cuda -sizes 1023,4095,8191,16383
    run 1 shellac_bench_direct -dm_vec_type cuda -sizes 1024,4096,8192,16384 -periodic
    run 1 shellac_bench_direct -dm_vec_type cuda -dim 3 -sizes 127,255,511
    run 1 shellac_bench_direct -dm_vec_type cuda -dim 3 -sizes 128,256,512 -periodic
  else
    run "$ranks" shellac_bench_direct -sizes 1023,2047
    run "$ranks" shellac_bench_direct -dim 3 -sizes 127
  fi
}
iterations() {
  run 1 shellac_bench_iterations
  local omega
  for omega in 1 1.9; do run 1 poisson -n 200 -mat_laplace_boundary eliminated -pc_type eisenstat -pc_eisenstat_omega $omega -picture none; done
  [ -x "$here/tutorials/snes-ex19" ] || { echo "PETSc's tutorials are not built"; return; }
  local n flow
  for flow in '' '-lidvelocity 100' '-lidvelocity 10 -grashof 1000'; do
    for n in 65 129 257; do newton "$n" stencilmg "$flow"; done
    newton 129 mg "$flow"
  done
}
# newton POINTS PRECONDITIONER FLOW: iterations of the linear solves of snes/ex19
newton() {
  local solver="-dll_append $here/../lib/libshellac.so -dm_mat_type stencil -pc_type stencilmg"
  [ "$2" = stencilmg ] || solver='-pc_type mg -pc_mg_levels 6 -mg_levels_pc_type pbjacobi -mg_levels_ksp_max_it 3'
  run 1 tutorials/snes-ex19 -da_grid_x "$1" -da_grid_y "$1" $3 -ksp_type fgmres $solver -ksp_converged_reason |
    awk '/Linear .*solve converged/ {list = list " " $NF; next} /^\$/ || /did not/ {print} END {print "iterations:" list}'
}
sums() {
  if [ "$cuda" ]; then
    run 1 shellac_bench_sums -vec_type cuda
    run 1 shellac_bench_sums -vec_type cuda -fast
    run 1 shellac_bench_sums -host
  else
    run "$ranks" shellac_bench_sums -large 100000
  fi
}
solves() {
  run 1 shellac_bench_solves
}
burgers() {
  if [ "$cuda" ]; then
    run 1 shellac_bench_burgers -dm_vec_type cuda -sizes 1000000,134217728
  else
    run "$ranks" shellac_bench_burgers -sizes 1000000,32000000
  fi
}
equations() {
  if [ "$cuda" ]; then
    run 1 shellac_bench_equations -dm_vec_type cuda -dm_mat_type stencil -pc_type stencilmg
  else
    run "$ranks" shellac_bench_equations -sizes 1025 -size_3d 65 -newton_size 257 -time_size 256 -steps 100 -dm_mat_type stencil -pc_type stencilmg
  fi
}
tutorials() {
  if [ -x "$here/tutorials/times.sh" ]; then
    "$here/tutorials/times.sh" $cuda -launcher "$mpiexec -n" -ranks "$([ "$cuda" ] && echo 1 || echo "$ranks")"
  else
    echo "PETSc's tutorials are not built"
  fi
}

for part in $parts; do
  printf '\n==== %s (%s s)\n' "$part" "$SECONDS"
  $part
done
