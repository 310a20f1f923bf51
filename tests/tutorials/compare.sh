#!/usr/bin/env bash
# Runs PETSc's tutorials, which do not know Shellac, with an assembled matrix and with Shellac's by options alone, and
# compares every solve's iterations and reason to stop, and the solutions.
#
# usage: compare.sh [-name value ...] [tutorial ...]      (all of runs.txt by default)
#   -library FILE     libshellac.so                                 ($SHELLAC_LIBRARY)
#   -type TYPE        the matrix type under test                    (stencil)
#   -reference TYPE   what it is compared with                      (aij)
#   -options OPTIONS  further options of both runs, for instance '-dm_vec_type cuda'
#   -ranks LIST       numbers of MPI ranks                          ('1 3')
#   -launcher COMMAND what starts a program on the ranks that follow (mpiexec -n); none: nothing, for one rank
#   -tolerance REAL   of the relative difference of two solutions in the infinity norm (1e-7)
#   -folder FOLDER    where the output of the last runs remains     (a temporary one, removed)
#
# Prints a line for each run and fails if one differs. The tutorials lie in the script's own folder.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
library=${SHELLAC_LIBRARY:-} type=stencil reference=aij options='' ranks='1 3' launcher='mpiexec -n' tolerance=1e-7
folder=
while [[ ${1:-} == -* ]]; do
  case $1 in
    -library | -type | -reference | -options | -ranks | -launcher | -tolerance | -folder)
      [ $# -ge 2 ] || { echo "compare.sh: $1 needs a value" >&2; exit 2; }
      printf -v "${1#-}" %s "$2"
      shift 2 ;;
    *) echo "compare.sh: '$1' is unknown; the script's first lines list the options" >&2; exit 2 ;;
  esac
done
[ "$launcher" != none ] || launcher=
tutorials=" $* "
for tutorial; do
  grep -q "^$tutorial " "$here/runs.txt" || { echo "compare.sh: '$tutorial' is not a tutorial of runs.txt" >&2; exit 2; }
done
temporary=$(mktemp -d "${TMPDIR:-/tmp}/XXXXXX") # paths of sockets must be short
trap 'rm -rf "$temporary"' EXIT
folder=${folder:-$temporary}
# Of each program under way: Open MPI's that start while another ends may find the folder for all of them gone
mkdir -p "$folder" "$temporary/reference" "$temporary/tested"

# Many short runs on one host: Open MPI need not look for network cards, which takes it longer than the runs
export OMPI_MCA_pml=${OMPI_MCA_pml:-ob1} OMPI_MCA_btl=${OMPI_MCA_btl:-^ofi,uct,openib,usnic}

# The same number of iterations then gives the same solution up to rounding. Where they may differ, the error is the
# tolerance below times the condition number, which is near 1000 on these grids. Newton's last right-hand sides are small
# differences, and finite differences leave 1e-8 of a Jacobian open: a wider tolerance keeps that noise out of the
# iterations.
reported='-ksp_converged_reason -snes_converged_reason -ts_monitor -ksp_view'
linear='-ksp_rtol 1e-10'
nonlinear='-ksp_rtol 1e-6 -snes_rtol 1e-6'
equation=../equation # the program that solves a text's equation
export SHELLAC_CACHE=${SHELLAC_CACHE:-$folder}

# run NAME RANKS KIND PROGRAM OPTIONS...: the output in NAME.log, the solution in NAME.solution; KIND: of the solver, as ksp
run() {
  local name=$folder/$1 n=$2 kind=$3 program=$4
  local tolerances=$nonlinear
  [ "$kind" = ksp ] && tolerances=$linear
  shift 4
  rm -f "$name.solution"
  for _ in 1 2; do # on a busy host Open MPI at times fails before the program begins: once more
    TMPDIR=$temporary/${name##*/} timeout 120 ${launcher:+$launcher "$n"} "$here/$program" $reported $tolerances $options \
      "$@" -viewer_binary_skip_info "-${kind}_view_solution" "binary:$name.solution" > "$name.log" 2>&1 && return
    if grep -aqE 'PETSC ERROR|solve|TS dt' "$name.log"; then return 1; fi
  done
  return 1
}
# why a run failed, in a line: PETSc's first error, else the last output
error_of() {
  { grep -a 'PETSC ERROR: ' "$1" | grep -av -e '---' | sed 's/.*PETSC ERROR: //' | head -n 2; tail -n 2 "$1"; } |
    head -n 2 | tr '\n' ' '
}
# every solve's outcome, in the order of the solves; with 'order', without the linear solves' iterations
outcomes() {
  grep -aE '(Linear|Nonlinear) .*solve (converged|did not converge)|TS dt' "$1" |
    if [ "${2:-}" = order ]; then sed -E '/Linear/s/iterations [0-9]+/iterations/'; else cat; fi
}
iterations() {
  grep -aE 'Linear .*solve (converged|did not converge)' "$1" | awk '{sum += $NF} END {print sum + 0}'
}

# compare_run RANKS TUTORIAL TYPE_OPTION PERCENT OPTIONS...: prints why the two runs differ, or how much; options may be
# followed by '| those of the run under test | those of the reference'
compare_run() {
  local n=$1 kind=${2%%/*} program=${2//\//-} key=$3 percent=$4 difference was is part=0
  local -a of=('' '' '')
  shift 4
  for word; do
    if [ "$word" = '|' ]; then part=$((part + 1)); else of[part]+=" $word"; fi
  done
  if [[ $key == equation=* ]]; then
    set -- "$equation" -equation "$here/${key#equation=}" -picture none
    key=dm_mat_type
  else
    set -- "$program" ${library:+-dll_append "$library"}
  fi
  run reference "$n" "$kind" "$program" "-$key" "$reference" ${of[0]} ${of[2]} & # to start takes longer than to solve
  run tested "$n" "$kind" "$@" "-$key" "$type" ${of[0]} ${of[1]}
  local tested_status=$?
  wait $! || { echo "$reference: $(error_of "$folder/reference.log")"; return 1; }
  [ $tested_status = 0 ] || { echo "$type: $(error_of "$folder/tested.log")"; return 1; }
  ! grep -aq 'Mat Object' "$folder/reference.log" || grep -aqE "type: (seq|mpi)?$type\$" "$folder/tested.log" || { echo "no solver had a matrix of type $type"; return 1; }
  was=$(iterations "$folder/reference.log") is=$(iterations "$folder/tested.log")
  local compared=
  [ "$percent" = same ] || compared=order
  outcomes "$folder/reference.log" $compared > "$folder/reference.outcomes"
  outcomes "$folder/tested.log" $compared > "$folder/tested.outcomes"
  [ -s "$folder/reference.outcomes" ] || { echo "the program reports no solve"; return 1; }
  if grep -q 'did not converge' "$folder/reference.outcomes"; then
    echo "does not converge: $(grep -m 1 'did not' "$folder/reference.outcomes")"
    return 1
  fi
  if ! diff "$folder/reference.outcomes" "$folder/tested.outcomes" > "$folder/outcomes.diff"; then
    echo "other iterations: $(grep '^[<>]' "$folder/outcomes.diff" | sort -u -k 1,1 | tr '\n' ' ')"
    return 1
  fi
  # an iteration more is no difference where there are few
  if [ "$percent" != same ] && [ $(((is - was) * 100)) -gt $((was * percent + 100)) ]; then
    echo "$is iterations, more than $percent % above $was"
    return 1
  fi
  difference=$(timeout 60 "$here/compare_solutions" "$folder/tested.solution" "$folder/reference.solution" "$tolerance" 2>&1) ||
    { echo "other solution: $(echo "$difference" | sed 's/.*PETSC ERROR: //' | grep -v -e '---' | head -n 1)"; return 1; }
  echo "$is iterations$([ "$is" = "$was" ] || echo " ($was)"), solutions differ by $difference"
}

failures=0 runs=0
for n in $ranks; do
  while read -r tutorial key percent arguments; do
    [[ $tutorial == [a-z]* ]] || continue
    [[ -z ${tutorials// /} || $tutorials == *" $tutorial "* ]] || continue
    [ -x "$here/${tutorial//\//-}" ] || continue # PETSc's scalars are not what it needs
    [[ $key != equation=* || -x $here/$equation ]] || continue # no examples were built
    runs=$((runs + 1))
    if result=$(compare_run "$n" "$tutorial" "$key" "$percent" $arguments < /dev/null); then
      echo "same: $tutorial on $n, $arguments: $result"
    else
      echo "FAIL: $tutorial on $n, $arguments: $result"
      failures=$((failures + 1))
    fi
  done < "$here/runs.txt"
done
[ "$runs" -gt 0 ] || { echo "compare.sh: no runs of$tutorials" >&2; exit 2; }
echo "$runs runs, $failures failed"
[ "$failures" -eq 0 ]
