# Runs the examples on small problems: the files that they write, the lines that they print, and one clear error for what
# cannot be.
#   run: MPI's launcher with the number of ranks, nothing for one rank; bin: the folder of the examples; folder: for the files
#   that they write; cuda: whether they have kernels

set(alone FALSE)
if(NOT run)
  set(alone TRUE)
endif()
separate_arguments(run)
file(REMOVE_RECURSE ${folder})
file(MAKE_DIRECTORY ${folder})

macro(execute)
  execute_process(COMMAND ${run} ${bin}/${ARGN} WORKING_DIRECTORY ${folder} RESULT_VARIABLE result
    OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 100)
  string(REPLACE ";" " " command "${ARGN}")
endmacro()

# expect(<what is printed, a regular expression> <example> <options>...)
function(expect expected)
  execute(${ARGN})
  if(result OR NOT output MATCHES "${expected}")
    message(SEND_ERROR "${command}: ended with ${result}, expected '${expected}':\n${output}")
  endif()
endfunction()

# expect_error(<words of the message> <example> <options>...)
function(expect_error expected)
  execute(${ARGN})
  string(REGEX MATCHALL "--- Error Message" messages "${output}")
  list(LENGTH messages count)
  if(NOT result OR NOT count EQUAL 1 OR NOT output MATCHES "${expected}")
    message(SEND_ERROR "${command}: ended with ${result} and ${count} messages, expected one, '${expected}':\n${output}")
  endif()
endfunction()

# expect_file(<name> <first bytes, hexadecimal> <least size>)
function(expect_file name signature size)
  if(NOT EXISTS ${folder}/${name})
    message(SEND_ERROR "${name} was not written")
    return()
  endif()
  string(LENGTH "${signature}" length)
  math(EXPR length "${length} / 2")
  file(READ ${folder}/${name} bytes HEX LIMIT ${length})
  file(SIZE ${folder}/${name} actual)
  if(NOT bytes STREQUAL signature OR actual LESS size)
    message(SEND_ERROR "${name} begins with ${bytes} and has ${actual} bytes; expected ${signature} and ${size} or more")
  endif()
endfunction()

set(png 89504e470d0a1a0a)
set(pdf 255044462d) # %PDF-
set(xml 3c3f786d6c) # <?xml
set(hdf5 894844460d0a1a0a)
set(converged "CONVERGED_RTOL +CONVERGED_RTOL")

# Which of its outputs this build has
execute(poisson -n 17 -picture p.svg)
string(FIND "${output}" "needs Cairo" no_cairo)
execute(burgers -n 16 -time 0.1 -picture none -series s.vts)
set(complex FALSE)
if(output MATCHES "real numbers only")
  set(complex TRUE)
endif()
execute(burgers -n 16 -time 0.1 -picture none -series s.h5)
string(FIND "${output}" "without HDF5" no_hdf5)

if(no_cairo EQUAL -1)
  expect(" laplace +aij +aij / laplace.*${converged}.*laplace with -pc_type stencilmg: .*CONVERGED_RTOL.*wrote poisson-laplace-30x30.png"
    poisson -n 30)
  expect_file(poisson-laplace-30x30.png ${png} 10000)
  expect_file(p.svg ${xml} 10000)
  file(READ ${folder}/p.svg svg)
  if(svg MATCHES "<pattern" OR NOT svg MATCHES "<image") # browsers show fields as images only
    message(SEND_ERROR "p.svg has no image of the field")
  endif()
  expect("wrote burgers-sine-godunov-weno5-ssp-n50-time0.5-viscosity0.05.png" burgers -n 50 -time 0.5
    -burgers_viscosity 0.05)
  expect_file(burgers-sine-godunov-weno5-ssp-n50-time0.5-viscosity0.05.png ${png} 10000)
  expect("wrote uv.pdf" burgers -dim 2 -n 20 -time 0.5 -burgers_reconstruct minmod -picture uv.pdf)
  expect_file(uv.pdf ${pdf} 3000)
  expect("wrote kernel_sum-gaussian-7-points9-sigma0.3.png" kernel_sum -points 9 -sources 7 -sigma 0.3
    -mat_kernelsum_kernel gaussian)
  expect("wrote sums.png" kernel_sum -points 20 -sources 7 -picture sums.png)
  expect_file(sums.png ${png} 10000)
  expect("wrote porous-x33-y33-steps5.png" porous -da_grid_x 33 -da_grid_y 33 -steps 5)
  expect_file(porous-x33-y33-steps5.png ${png} 10000)
  expect("array of discs, 128² cells, 0.29[0-9]* of them solid: [5-9] iterations; effective diffusivity 0.53[0-9]*, by Rayleigh 0.53.*wrote obstacles-n128-mediumarray-solid0.3.png"
    obstacles -n 128 -medium array -solid 0.3)
  expect_file(obstacles-n128-mediumarray-solid0.3.png ${png} 10000)
  expect("random spheres, 24³ cells.* effective diffusivity 0.[34][0-9]*, Weissberg's bound 0.4" obstacles -dim 3 -n 24 -radius 0.15
    -picture none)
  expect_error("-dim is 1 .*give 2 or 3" obstacles -dim 1 -picture none)
  if(NOT complex)
    expect("4 tests, 16 wells: 40 iterations.*error of the logarithm 0.[67].*wrote wells-x32-y32-wells4.png" wells
      -da_grid_x 32 -da_grid_y 32 -wells 4 -tao_max_it 40)
    expect_file(wells-x32-y32-wells4.png ${png} 10000)
  endif()
  expect("error of the interpolant.*wrote rbf-100.png" rbf -n 100)
  expect_file(rbf-100.png ${png} 10000)
  expect("coefficients [0-9.]+e-(0[6-9]|1[0-9]), variances [0-9.]+e-(0[6-9]|1[0-9]), log det A = -[0-9.]+, [0-3][.][0-9] stand.*wrote gaussian_process-200.png" gaussian_process -n 200 -dense -steps 80 -pc_kernelsum_box 16 -pc_kernelsum_overlap 40)
  expect_file(gaussian_process-200.png ${png} 10000)
  if(alone) # names and kinds of pictures
    expect("wrote q.pdf" poisson -da_grid_x 30 -da_grid_y 10 -mat_laplace_boundary neumann -picture q.pdf)
    expect_file(q.pdf ${pdf} 3000)
    expect("wrote line.png" poisson -dim 1 -n 50 -picture line.png)
    expect_file(line.png ${png} 3000)
    expect("wrote burgers-central_doubled.png" burgers -preset central_doubled)
    expect("wrote poisson-helmholtz-12x12-shift400.png" poisson -n 12 -dm_mat_type helmholtz -mat_helmholtz_shift 400)
    expect("wrote poisson-laplace-12x12-lengths1,2.png" poisson -n 12 -mat_laplace_lengths 1,2)
    expect("wrote rbf-100-sigma0.3-ridge1e-6.png" rbf -n 100 -ridge 1e-6 -mat_kernelsum_sigma 0.3)
    expect("kernel exp[(]-r/sigma[)], sigma 0.2108.*wrote rbf-90-formulaexp_-r_sigma_-[0-9a-f]*.png" rbf -n 90
      -mat_kernelsum_formula "exp(-r/sigma)")
    expect("kernel exp[(]-r[)], ridge" rbf -n 50 -mat_kernelsum_formula "exp(-r)" -picture none)
    # rounding leaves 1e-11 to 5e-11, by the BLAS; the message begins at ten times the tolerance
    expect("the residual is above the tolerance 1e-13 that.*-ksp_view" rbf -n 1000 -mat_kernelsum_kernel multiquadric
      -mat_kernelsum_sigma 0.15 -ridge 0 -ksp_rtol 1e-13 -picture none)
    expect("rounding may leave a relative residual" rbf -n 100 -ksp_view -picture none)
    expect("kernel thin_plate, ridge" rbf -n 50 -mat_kernelsum_kernel thin_plate -picture none)
    expect("wrote kernel_sum-laplace-7-points9-precisionsingle-selfzero.png" kernel_sum -points 9 -sources 7
      -mat_kernelsum_kernel laplace -mat_kernelsum_precision single -mat_kernelsum_self zero)
    expect("kernelsum .*CONVERGED.*none .*wrote rbf-multiquadric-90.png" rbf -n 90 -compare -mat_kernelsum_kernel multiquadric)
  endif()
elseif(NOT complex)
  expect_file(p.vts ${xml} 1000)
endif()
if(NOT complex)
  expect("wrote p.vtr" poisson -n 20 -picture p.vtr)
  expect_file(p.vtr ${xml} 1000)
  expect("wrote sums-gaussian-x0.vts" kernel_sum -points 20 -mat_kernelsum_kernel gaussian -picture sums.vts)
  expect_file(sums-gaussian-x0.vts ${xml} 1000)
  expect_file(s.pvd ${xml} 150)
  expect_file(s-0001.vts ${xml} 500)
  if(no_hdf5 EQUAL -1)
    expect("to t = 0.1 .*wrote s.h5" burgers -n 16 -time 0.1 -picture none -series s.h5)
    expect_file(s.h5 ${hdf5} 1000)
  endif()
endif()
if(NOT complex)
  set(gallery ${CMAKE_CURRENT_LIST_DIR}/../../examples/equations)
  set(ENV{SHELLAC_CACHE} ${folder}/../equations)
  expect("linear equation.*15 x 15 .*29 x 29 .*order 1.9.*57 x 57 .*order 2.0" equation -equation ${gallery}/poisson.h
    -da_grid_x 15 -da_grid_y 15 -refinements 2 -picture none)
  expect("29 x 29 .*order (1.9|2.0).*57 x 57 .*order (1.9|2.0)" equation -equation ${gallery}/poisson.h
    -da_grid_x 15 -da_grid_y 15 -refinements 2 -picture none -equation_stretch_x tanh,1 -equation_stretch_y geometric,2)
  if(no_cairo EQUAL -1)
    expect("wrote bratu-x17-lambda5.png" equation -equation ${gallery}/bratu.h -da_grid_x 17 -equation_lambda 5)
  endif()
  expect("nonlinear equation: 3 nonlinear.*wrote b.vts" equation -equation ${gallery}/bratu.h -picture b.vts)
  expect_file(b.vts ${xml} 1000)
  expect("8 x 8 x [0-9]+ points: error.*15 x 15 .*order (1.9|2.[0-2])" equation -equation ${gallery}/allen_cahn.h -da_grid_x 8
    -da_grid_y 8 -refinements 1 -ts_max_time 0.1 -picture none)
  expect("2 steps" equation -equation ${gallery}/gray_scott.h -da_grid_x 16 -da_grid_y 16 -ts_max_steps 2 -ts_max_time 10
    -picture none -ts_monitor_solution_vtk g-%03d.vts)
  expect_file(g-002.vts ${xml} 1000)
  # A field and the initial state from files
  file(WRITE ${folder}/given.h "field(k)\nresidual = u - k\n")
  expect("nonlinear equation" equation -equation ${gallery}/bratu.h -da_grid_x 17 -da_grid_y 9 -picture k.vts
    -u_view binary:k.petsc)
  expect("linear equation: 1 nonlinear, 0 linear" equation -equation given.h -da_grid_x 17 -da_grid_y 9 -picture none
    -equation_k k.vts -equation_initial k.petsc)
  expect_error("-equation_k k.petsc: the file has 153 values" equation -equation given.h -picture none -equation_k k.petsc)
  if(alone)
    expect_error("the field k has no values; .*give -equation_k <file>" equation -equation given.h -picture none)
    expect_error("no field for the option[ \n]+-equation_kk: did you mean -equation_k" equation -equation given.h
      -equation_kk k.petsc)
    expect("steps to t = 10" equation -equation ${gallery}/gray_scott.h -da_grid_x 32 -da_grid_y 32 -ts_max_time 10
      -picture none)
  endif()
  # Compiled ahead, by a compiler that is no more when the equation is solved
  find_program(cxx c++)
  file(CREATE_LINK ${cxx} ${folder}/c++ SYMBOLIC)
  set(ENV{SHELLAC_CXX} ${folder}/c++)
  set(ENV{SHELLAC_CXXFLAGS} -O0)
  set(ENV{SHELLAC_CACHE} ${folder}/ahead)
  expect("/bratu.h is compiled for [^ ]+: ${folder}/ahead/[^ ]+.so\n.*/bratu.h is compiled for [^ ]+: ${folder}/ahead/"
    equation -equation ${gallery}/bratu.h -equation_compile_ahead)
  execute_process(COMMAND chmod o+w ${folder}/ahead)
  expect_error("cannot be kept in the cache, ${folder}/ahead: others can write in" equation -equation ${gallery}/poisson.h
    -equation_compile_ahead)
  execute_process(COMMAND chmod o-w ${folder}/ahead)
  file(REMOVE ${folder}/c++)
  foreach(type aij equation)
    expect("nonlinear equation: [0-9]+ nonlinear" equation -equation ${gallery}/bratu.h -da_grid_x 9 -da_grid_y 9 -picture none
      -dm_mat_type ${type})
  endforeach()
  expect_error("/c[+][+]', which compiles the equation, cannot be run, and the cache has no result for the processor"
    equation -equation ${gallery}/poisson.h -picture none)
  foreach(name CXX CXXFLAGS CACHE)
    unset(ENV{SHELLAC_${name}})
  endforeach()
endif()
expect_error("there is no equation" equation)
expect("^stencil, 65 x 65 points, 20 steps.*relative error 0.0[0-2]" porous -da_grid_x 65 -da_grid_y 65 -steps 20 -picture none)
expect("aij, 65 x 65 points, 20 steps.*relative error 0.0[0-2]" porous -da_grid_x 65 -da_grid_y 65 -steps 20 -dm_mat_type aij
  -picture none)
if(cuda AND EXISTS /dev/nvidiactl)
  expect("^stencil, 65 x 65 points, 20 steps.*relative error 0.0[0-2]" porous -da_grid_x 65 -da_grid_y 65 -steps 20 -picture none
    -dm_vec_type cuda)
endif()
expect("${converged}" poisson -dim 3 -n 7 -picture none)
expect("${converged}" poisson -n 12 -pc_type sor -ksp_max_it 50 -picture none)
foreach(type stencilfft stencil)
  expect("aij is solved with -pc_type gamg: ${type} takes no.*${converged}" poisson -n 12 -ksp_type stencil -pc_type ${type}
    -picture none)
endforeach()
expect("${converged}" poisson -dm_mat_type helmholtz -mat_helmholtz_shift 4 -n 20 -picture none)

# States from files
file(WRITE ${folder}/state.txt "# a shock\n1 1, 1\n1 # here\n\n0\n0\n0\n0\n")
expect("to t = 0.5 .*u from [^ ]+ to 1" burgers -initial_file state.txt -burgers_reconstruct constant -time 0.5
  -picture none)
expect_error("state.txt has 8 numbers, but the grid needs 9" burgers -initial_file state.txt -n 9 -picture none)
set(wrong "one")
if(alone)
  list(APPEND wrong "nan" "1e999")
endif()
foreach(bad ${wrong})
  file(WRITE ${folder}/bad.txt "1\n2\n${bad}\n")
  expect_error("bad.txt: line 3: " burgers -initial_file bad.txt -picture none)
endforeach()
expect_error("missing.txt: it cannot be read" burgers -initial_file missing.txt -picture none)

# Mistakes
set(drawing poisson)
if(alone) # all examples draw by picture.hpp
  list(APPEND drawing burgers kernel_sum rbf gaussian_process porous)
endif()
foreach(example ${drawing})
  expect_error("-picture u.jpg: the name must end in .png, .svg or .pdf" ${example} -picture u.jpg)
  if(no_cairo EQUAL -1)
    expect_error("cannot write -picture nowhere/u.png" ${example} -picture nowhere/u.png)
  endif()
endforeach()
if(alone) # every rank reads the same options
  expect_error("-steps is 0" porous -steps 0)
  expect_error("129 x 65 points" porous -da_grid_y 65)
  expect_error("-n and -da_grid_y both set" poisson -n 20 -da_grid_y 30)
  expect_error("-n and -da_grid_x both set" burgers -n 20 -da_grid_x 30)
  expect_error("-n -5 is not possible" poisson -n -5)
  expect_error("-n 0 is not possible" burgers -n 0)
  expect_error("-points 0 are not possible" kernel_sum -points 0)
  expect_error("-n -1 .*are not possible" rbf -n -1)
  expect_error("-mat_kernelsum_wavenumber is 0.*laplace" kernel_sum -points 5 -wavenumber 0 -picture none)
  expect_error("-initial hat is unknown" burgers -initial hat)
  expect_error("-length is nan" burgers -length nan)
  expect_error("-series u.txt: the name must end in" burgers -series u.txt -picture none)
  expect_error("-preset other is unknown" burgers -preset other)
  expect_error("-mat_kernelsum_kernel cubic" kernel_sum -mat_kernelsum_kernel cubic)
  expect_error("-mat_kernelsum_formula exp.-r.: .*laplace, helmholtz and gaussian only.*rbf" kernel_sum
    -mat_kernelsum_formula "exp(-r)")
  # a table goes on where a precision cannot keep the tolerance
  expect("helmholtz +double +[0-9].*helmholtz +single +-\n.*no fast sum keeps the tolerance.*larger -mat_kernelsum_rtol"
    kernel_sum -points 40 -mat_kernelsum_kernel helmholtz -mat_kernelsum_type fast -picture none)
  expect_error("nan" kernel_sum -points 5 -mat_kernelsum_type fast -mat_kernelsum_rtol nan)
  expect_error("-sigma has no effect" kernel_sum -sigma 1 -mat_kernelsum_kernel laplace)
  expect_error("nan" kernel_sum -points 5 -sigma nan -picture none)
  expect_error("-noise 0.*are not possible" gaussian_process -noise 0)
  expect_error("-ridge nan" rbf -n 5 -ridge nan -picture none)
  expect_error("formula 1./0 has no finite value at r = " rbf -n 50 -mat_kernelsum_formula 1./0 -picture none)
  expect_error("nan" rbf -n 5 -mat_kernelsum_sigma nan -picture none)
  file(WRITE ${folder}/empty.txt "# nothing\n")
  expect_error("empty.txt: it has no numbers" burgers -initial_file empty.txt -picture none)
endif()
expect_error("-mat_laplace_shape box is no operator.*use star" poisson -n 12 -mat_laplace_shape box)
expect_error("no solution: DIVERGED_ITS after 3 iterations.*-pc_kernelsum_overlap" rbf -n 200 -ksp_max_it 3 -pc_type none
  -picture none)
expect_error("cannot write -series nowhere/u.vts" burgers -n 16 -series nowhere/u.vts -picture none)
expect_error("cannot write -series nowhere/u.h5" burgers -n 16 -series nowhere/u.h5 -picture none)
foreach(n 1 2)
  if(alone)
    expect("CONVERGED" poisson -n ${n} -picture none)
    expect("steps of" burgers -n ${n} -time 0.1 -burgers_reconstruct constant -burgers_bc outflow -picture none)
    expect("gaussian" kernel_sum -points ${n} -picture none)
    expect("error of the interpolant" rbf -n ${n} -picture none)
  endif()
endforeach()
