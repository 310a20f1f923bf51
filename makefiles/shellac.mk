# For programs that build with PETSc's makefiles. Set SHELLAC_DIR to Shellac's install prefix, or to its source tree with
# SHELLAC_BUILD to its build folder, and include this after PETSc's variables:
#
#   include ${PETSC_DIR}/lib/petsc/conf/variables
#   include ${PETSC_DIR}/lib/petsc/conf/rules
#   include ${SHELLAC_DIR}/share/shellac/shellac.mk      (installed)
#   include ${SHELLAC_DIR}/makefiles/shellac.mk          (source tree)
#
#   app: app.o
#   	${CLINKER} -o $@ $^ ${SHELLAC_LIB} ${PETSC_LIB}

SHELLAC_BUILD ?= ${SHELLAC_DIR}/build/default
SHELLAC_INCLUDE = -I${SHELLAC_DIR}/include
SHELLAC_LIB_DIR = $(patsubst %/,%,$(dir $(firstword $(wildcard ${SHELLAC_DIR}/lib/libshellac.so ${SHELLAC_DIR}/lib/*/libshellac.so ${SHELLAC_DIR}/lib64/libshellac.so ${SHELLAC_BUILD}/lib/libshellac.so))))
ifeq (${SHELLAC_LIB_DIR},)
  $(error libshellac.so is not under SHELLAC_DIR=${SHELLAC_DIR} nor in SHELLAC_BUILD=${SHELLAC_BUILD}; build or install it)
endif
SHELLAC_LIB = -L${SHELLAC_LIB_DIR} -Wl,-rpath,${SHELLAC_LIB_DIR} -lshellac

CPPFLAGS += ${SHELLAC_INCLUDE}
CXXPPFLAGS += ${SHELLAC_INCLUDE}
