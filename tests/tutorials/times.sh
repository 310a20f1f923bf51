#!/usr/bin/env bash
# Times PETSc's tutorials as whole programs, from their start to their end, with Shellac's matrices and solvers by options alone and
# with assembled matrices; of some, texts of the same equation instead. Prints a table: seconds of the whole program, of KSPSolve and of
# MatSOR, iterations of all linear solves.
#
# usage: times.sh [-cuda] [-name value ...] [tutorial ...]      (all of times.txt by default)
#   -cuda             on the GPU, with the larger sizes of times.txt
#   -library FILE     libshellac.so                                 ($SHELLAC_LIBRARY, else ../../lib beside this folder)
#   -ranks N          MPI ranks                                     (1)
#   -launcher COMMAND what starts a program on the ranks that follow (mpiexec -n)
#   -limit SECONDS    after which a run is given up                 (120)
# The tutorials lie in the script's own folder.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
library=${SHELLAC_LIBRARY:-$here/../../lib/libshellac.so} ranks=1 launcher='mpiexec -n' limit=120 cuda=
while [[ ${1:-} == -* ]]; do
  case $1 in
    -cuda) cuda=1 && shift && continue ;;
    -library | -ranks | -launcher | -limit)
      [ $# -ge 2 ] || { echo "times.sh: $1 needs a value" >&2; exit 2; }
      printf -v "${1#-}" %s "$2"
      shift 2 ;;
    *) echo "times.sh: '$1' is unknown; the script's first lines list the options" >&2; exit 2 ;;
  esac
done
tutorials=" $* "
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
vectors= assembled=aij
[ -z "$cuda" ] || { vectors='-dm_vec_type cuda -vec_type cuda' assembled=aijcusparse; }

# levels N: so many that the coarsest grid has 9 points a side, or as few as N - 1 has factors of 2
levels() {
  local intervals=$(($1 - 1)) count=1
  while [ $intervals -gt 8 ] && [ $((intervals % 2)) -eq 0 ]; do intervals=$((intervals / 2)) count=$((count + 1)); done
  echo $count
}

# run PROGRAM OPTIONS...: prints 'total KSPSolve MatSOR iterations', or why there are none
run() {
  local program=$1 log=$folder/log start stop
  shift
  start=$(date +%s.%N)
  timeout "$limit" $launcher "$ranks" "$here/$program" $vectors "$@" -ksp_converged_reason -log_view ":$folder/events" > "$log" 2>&1
  local result=$?
  stop=$(date +%s.%N)
  if [ $result -eq 124 ]; then echo "over $limit s"; return; fi
  local silent= # an explicit method has no linear solves to report
  [[ " $* " == *' -ts_type rk '* ]] || grep -aq 'Linear .*solve converged' "$log" || silent='no linear solve was reported'
  if [ $result -ne 0 ] || [ -n "$silent" ] || grep -aq 'did not converge' "$log"; then
    echo "failed: $({ grep -a 'did not converge' "$log"; grep -a 'PETSC ERROR: ' "$log" | sed 's/.*PETSC ERROR: //' | grep -v -e '---'; echo "$silent"; } | head -n 1 | cut -c 1-60)"
    return
  fi
  awk -v total="$(echo "$stop $start" | awk '{print $1 - $2}')" -v iterations="$(grep -aE 'Linear .*solve converged' "$log" | awk '{s += $NF} END {print s}')" \
    '($1 == "KSPSolve" || $1 == "MatSOR") && !($1 in seen) {seen[$1] = $4}
     END {printf "%.2f %.3f %.3f %d\n", total, seen["KSPSolve"], seen["MatSOR"], iterations}' "$folder/events"
}

printf '%s; seconds of the whole program on %s rank(s), of KSPSolve and of MatSOR, iterations\n\n' "$([ "$cuda" ] && echo "one GPU" || echo "host")" "$ranks"
printf '| %-8s | %-44s | %-12s | %-44s | %8s | %8s | %8s | %5s |\n' tutorial options matrix preconditioner program KSPSolve MatSOR its
echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
while IFS='|' read -r tutorial key host device options shellac plain; do
  [[ $tutorial == [a-z]* ]] || continue
  tutorial=$(xargs <<< "$tutorial") key=$(xargs <<< "$key")
  [[ -z ${tutorials// /} || $tutorials == *" $tutorial "* ]] || continue
  [ -x "$here/${tutorial//\//-}" ] || continue
  text= equation=../equation
  [[ $key != equation=* ]] || { text=$here/${key#equation=} && key=dm_mat_type; }
  [ -z "$text" ] || [ -x "$here/$equation" ] || continue
  n=$(xargs <<< "$([ "$cuda" ] && echo "$device" || echo "$host")")
  options=$(xargs <<< "${options//@/$n}")
  for matrix in stencil $assembled; do
    if [ $matrix = stencil ]; then solver=$shellac plugin="-dll_append $library"; else solver=$plain plugin=; fi
    solver=$(xargs <<< "${solver//%/$(levels "$n")}")
    program=${tutorial//\//-}
    [ -z "$text" ] || [ $matrix != stencil ] || program=$equation plugin="-equation $text -picture none"
    result=$(run "$program" $plugin "-$key" $matrix $options $solver < /dev/null)
    if [[ $result == [0-9]* ]]; then read -r total solve sweeps iterations <<< "$result"; else total=$result solve= sweeps= iterations=; fi
    printf '| %-8s | %-44s | %-12s | %-44s | %8s | %8s | %8s | %5s |\n' "$tutorial" "$options" $matrix "$solver" "$total" "$solve" "$sweeps" "$iterations"
  done
done < "$here/times.txt"
