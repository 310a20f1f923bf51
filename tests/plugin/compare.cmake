# Runs a program that does not know the library with an assembled matrix, and with the library's by options alone.
#   run: the program's command; linked: that of a program with the library; library: libshellac.so; folder: for files

separate_arguments(run)
file(MAKE_DIRECTORY ${folder})
set(plugin -dll_append ${library} -dm_mat_type helmholtz -mat_helmholtz_shift 4)

function(run_program expected)
  execute_process(COMMAND ${run} ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message("${output}")
  if(result)
    message(FATAL_ERROR "the program failed: ${ARGN}")
  endif()
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "the program did not print '${expected}': ${ARGN}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

foreach(solver "-ksp_type cg -pc_type jacobi" "-ksp_type gmres -pc_type bjacobi" "-ksp_type cg -pc_type none")
  separate_arguments(solver)
  list(APPEND solver -ksp_rtol 1e-12)
  run_program("type (seq|mpi)aij" -dm_mat_type aij ${solver} -save ${folder}/solution)
  run_program("type helmholtz" ${plugin} ${solver} -load ${folder}/solution)
endforeach()

# The name that PETSc gives to libraries of its own
file(CREATE_LINK ${library} ${folder}/libpetscshellac.so SYMBOLIC)
run_program("type helmholtz" -dll_append ${folder}/libpetscshellac.so -dm_mat_type helmholtz -mat_helmholtz_shift 4)

# Another copy: one error, which names both; none where the program is linked with its own, as PETSc may load the other,
# unless PETSc has loaded that by its link when it gets to the other
configure_file(${library} ${folder}/copy/libshellac.so COPYONLY)
set(ENV{ASAN_OPTIONS} "$ENV{ASAN_OPTIONS}:detect_odr_violation=0")
execute_process(COMMAND ${run} -dll_append ${library},${folder}/copy/libshellac.so RESULT_VARIABLE result
  OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(REGEX MATCHALL "--- Error Message" messages "${output}")
list(LENGTH messages count)
if(NOT result OR NOT count EQUAL 1 OR
   NOT output MATCHES "already, (${library}|[^,]*/libpetscshellac[.]so), .*${folder}/copy/libshellac.so")
  message(FATAL_ERROR "two copies should get one error that names both: ${result}, ${output}")
endif()
separate_arguments(linked)
if(NOT output MATCHES "already, [^,]*/libpetscshellac[.]so")
  list(APPEND linked -dll_append ${folder}/copy/libshellac.so)
endif()
execute_process(COMMAND ${linked} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result)
  message(FATAL_ERROR "a program that is linked with its own copy ended with ${result}: ${output}")
endif()

# The library in the options' environment, its options in the help, and a program that assembles something else
set(ENV{PETSC_OPTIONS} "-dll_append ${library}")
run_program("type helmholtz" -dm_mat_type helmholtz -mat_helmholtz_omega 2)
unset(ENV{PETSC_OPTIONS})
run_program("-mat_helmholtz_boundary" ${plugin} -help)
foreach(key lengths shift omega)
  if(NOT output MATCHES "-mat_helmholtz_${key}")
    message(FATAL_ERROR "the help does not have -mat_helmholtz_${key}: ${output}")
  endif()
endforeach()
run_program("formula|spacing|sigma = 4" ${plugin} -ksp_view)
execute_process(COMMAND ${run} ${plugin} -sigma 5 RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result OR NOT output MATCHES "the program assembles")
  message(FATAL_ERROR "a program that assembles another operator should get an error: ${output}")
endif()

# CUDA asked for where there is none
if(NOT EXISTS /dev/nvidiactl)
  execute_process(COMMAND ${run} ${plugin} -dm_vec_type cuda RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT result OR NOT output MATCHES "cuda")
    message(FATAL_ERROR "-dm_vec_type cuda should be an error that names it: ${output}")
  endif()
endif()
