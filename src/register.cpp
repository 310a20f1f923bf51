// What PETSc finds when it loads the library: every type, one line each.

#include "burgers/types.hpp"
#include "device/petsc.hpp"
#include "direct/types.hpp"
#include "equations/types.hpp"
#include "krylov/types.hpp"
#include "multigrid/types.hpp"
#include "release.hpp"
#include "shellac.h"
#include "stencil/mat.hpp"
#include "stencil/types.hpp"
#include "sums/types.hpp"

#include <dlfcn.h>

static const struct {
  MatType type;
  PetscErrorCode (*create)(Mat);
  bool factors; // has factorisations through an assembled copy
} mat_types[] = {
    {MATLAPLACE, shellac::MatCreate_Laplace, true},
    {MATHELMHOLTZ, shellac::MatCreate_Helmholtz, true},
    {MATDIFFUSION, shellac::MatCreate_Diffusion, true},
    {MATADVECTIONDIFFUSION, shellac::MatCreate_AdvectionDiffusion, true},
    {MATSTENCILSHELL, shellac::MatCreate_Stencil, true},
    {MATEQUATION, shellac::MatCreate_Equation, false},
    {MATKERNELSUM, shellac::MatCreate_KernelSum, false},
};

static PetscBool initialized = PETSC_FALSE;

static PetscErrorCode finalize(void) {
  PetscFunctionBegin;
  initialized = PETSC_FALSE; // a later PetscInitialize() starts anew
  PetscCall(shellac::FFTPlansFinalize());
  PetscCall(shellac::SumPairsFinalize());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Functions of two copies of the library would work on each other's objects: the first one to register is the only one.
static PetscErrorCode check_alone(void) {
  void (*registered)(void);
  Dl_info own, other;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(PCList, PCSTENCILMG, &registered));
  if (!registered || !dladdr((const void *)registered, &other) || !dladdr(&initialized, &own) ||
      own.dli_fbase == other.dli_fbase)
    PetscFunctionReturn(PETSC_SUCCESS);
  SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONGSTATE,
          "this process has a copy of Shellac already, %s, and loads another one, %s. Name the same one everywhere: where "
          "the program is linked, by -dll_append, in Python by the environment variable SHELLAC_LIBRARY, and by the link "
          "libpetscshellac.so in the library folder of a PETSc that loads Shellac itself",
          other.dli_fname, own.dli_fname);
}

PetscErrorCode ShellacInitializePackage(void) {
  PetscClassId     classid;
  shellac::Release running;

  PetscFunctionBegin;
  if (initialized) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(shellac::running_release(&running));
  PetscCall(shellac::check_release(running)); // before anything else: types and functions may not be what we think
  PetscCall(check_alone());
  initialized = PETSC_TRUE;
  PetscCall(MatInitializePackage());
  PetscCall(PCInitializePackage());
  PetscCall(DMInitializePackage());
  PetscCall(TSInitializePackage());
  for (const auto &entry : mat_types) {
    PetscCall(MatRegister(entry.type, entry.create));
    if (entry.factors) PetscCall(shellac::MatStencilRegisterSolvers(entry.type));
  }
  PetscCall(PCRegister(PCASSEMBLED, shellac::PCCreate_Assembled));
  PetscCall(PCRegister(PCSTENCILMG, shellac::PCCreate_StencilMG));
  PetscCall(PCRegister(PCSTENCILFFT, shellac::PCCreate_StencilFFT));
  PetscCall(PCRegister(PCSTENCIL, shellac::PCCreate_Stencil));
  PetscCall(PCRegister(PCKERNELSUM, shellac::PCCreate_KernelSum));
  PetscCall(KSPRegister(KSPFUSEDCG, shellac::KSPCreate_FusedCG));
  PetscCall(KSPRegister(KSPFUSEDBCGS, shellac::KSPCreate_FusedBCGS));
  PetscCall(KSPRegister(KSPSTENCIL, shellac::KSPCreate_Stencil));
  PetscCall(TSRegister(TSBURGERSFUSED, shellac::TSCreate_BurgersFused));
  PetscCall(PetscClassIdRegister("Shellac", &classid));
  PetscCall(shellac::BurgersRegisterEvents(classid));
  PetscCall(shellac::BurgersRegisterSolvers());
  PetscCall(shellac::MatEquationRegisterSolvers());
  PetscCall(shellac::MatKernelSumRegisterSolvers());
  PetscCall(PetscLogEventRegister("HaloBegin", classid, &shellac::halo_begin_event));
  PetscCall(PetscLogEventRegister("HaloEnd", classid, &shellac::halo_end_event));
  PetscCall(PetscLogEventRegister("StencilMGSetUp", classid, &shellac::multigrid_setup_event));
  PetscCall(PetscLogEventRegister("StencilMGApply", classid, &shellac::multigrid_apply_event));
  PetscCall(PetscLogEventRegister("StencilMGDown", classid, &shellac::multigrid_down_event));
  PetscCall(PetscLogEventRegister("StencilMGUp", classid, &shellac::multigrid_up_event));
  PetscCall(PetscLogEventRegister("StencilMGCoarse", classid, &shellac::multigrid_coarse_event));
  PetscCall(PetscLogEventRegister("StencilFFTSetUp", classid, &shellac::direct_setup_event));
  PetscCall(PetscLogEventRegister("StencilFFTApply", classid, &shellac::direct_apply_event));
  PetscCall(PetscLogEventRegister("StencilFFTMove", classid, &shellac::direct_move_event));
  PetscCall(PetscLogEventRegister("StencilFFTLines", classid, &shellac::direct_transform_event));
  PetscCall(PetscLogEventRegister("StencilFFTModes", classid, &shellac::direct_modes_event));
  PetscCall(PetscRegisterFinalize(finalize));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PETSc calls the function that has the name of the library's file: libshellac.so, or libpetscshellac.so, as PETSc names
// the libraries that it loads itself.
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_shellac(void);
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petscshellac(void);

// A program that is linked with a copy of its own keeps that: the one that PETSc loads has nothing to do then.
static PetscErrorCode initialize(void) {
  const auto first = (PetscErrorCode(*)(void))dlsym(dlopen(NULL, RTLD_NOW), "ShellacInitializePackage");

  PetscFunctionBegin;
  PetscCall(check_alone());
  PetscCall(first ? first() : ShellacInitializePackage());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscDLLibraryRegister_shellac(void) {
  return initialize();
}
PetscErrorCode PetscDLLibraryRegister_petscshellac(void) {
  return initialize();
}
