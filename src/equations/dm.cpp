// DMDASetEquation(): the equation of a DM, for KSP, SNES and TS; and its inheritance by coarser and finer DMs.

#include <fstream>
#include <sstream>

#include "options/agreement.hpp"
#include "equations/equation.hpp"
#include "equations/options.hpp"
#include "equations/source.hpp"
#include "shellac.h"

namespace shellac {

static const char composed[] = "ShellacEquation";

static PetscErrorCode destroy_on_grid(void *argument) {
  EquationOnGrid *on_grid = context_to_destroy<EquationOnGrid>(argument);

  PetscFunctionBegin;
  PetscCall(on_grid->Destroy());
  delete on_grid;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMFindEquation(DM da, EquationOnGrid **on_grid) {
  return query_context((PetscObject)da, composed, on_grid);
}

PetscErrorCode DMGetEquation(DM da, EquationOnGrid **on_grid) {
  PetscFunctionBegin;
  PetscCheck(da, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the DM is null; create a DMDA first");
  PetscCall(DMFindEquation(da, on_grid));
  PetscCheck(*on_grid, PetscObjectComm((PetscObject)da), PETSC_ERR_ARG_WRONGSTATE,
             "the DM has no equation; call DMDASetEquation() on it");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode compose(DM da, std::unique_ptr<EquationOnGrid> on_grid) {
  return compose_context((PetscObject)da, composed, on_grid.release(), destroy_on_grid);
}

// ---- inheritance ---------------------------------------------------------------------------------------------------

static PetscErrorCode restrict_fields(DM fine, Mat, Vec, Mat, DM coarse, void *) {
  EquationOnGrid *from, *to;

  PetscFunctionBegin;
  PetscCall(DMFindEquation(fine, &from));
  PetscCall(DMFindEquation(coarse, &to));
  if (from && to) PetscCall(to->TakeFields(*from, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool from_finer> static PetscErrorCode inherit(DM from, DM to, void *);

static PetscErrorCode add_hooks(DM da) {
  PetscFunctionBegin;
  PetscCall(DMCoarsenHookAdd(da, inherit<true>, restrict_fields, NULL));
  PetscCall(DMRefineHookAdd(da, inherit<false>, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The equation of another grid, on this one.
template <bool from_finer> static PetscErrorCode inherit(DM from, DM to, void *) {
  EquationOnGrid *source;
  Vec             has_coordinates;

  PetscFunctionBegin;
  PetscCall(DMFindEquation(from, &source));
  if (!source) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetCoordinates(from, &has_coordinates));
  auto            made = std::make_unique<EquationOnGrid>();
  EquationOnGrid &on_grid = *made;
  PetscCall(compose(to, std::move(made))); // which destroys it where what follows fails
  PetscCall(on_grid.Create(to, source->shared()));
  if (has_coordinates && source->equation().text.stretches()) PetscCall(on_grid.SetCoordinates());
  PetscCall(on_grid.TakeFields(*source, from_finer));
  // PETSc passes on what a SNES calls, and what a TS calls to coarser grids alone. The SNES of a coarser grid works for
  // the TS of the finer one.
  if (from_finer)
    on_grid.stepper() = source->stepper();
  else if (source->equation().text.has_rate)
    PetscCall(SetSolverFunctions(to, source->equation().text));
  PetscCall(add_hooks(to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CompileFunctions(MPI_Comm comm, Equation &equation, FunctionsOf of, bool ahead) {
  const bool  in_parts = of == FunctionsOf::values, is_action = of == FunctionsOf::action;
  const void *compiled = in_parts ? nullptr : is_action ? (const void *)equation.action : equation.sensitivities;

  PetscFunctionBegin;
  if (compiled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CompileSource(comm, equation_source(equation.text, equation.shape, of),
                          {"the equation", equation.text.file, equation.text.lines}, equation.cache.c_str(), &compiled,
                          in_parts ? 3 : 1, ahead));
  if (in_parts)
    equation.functions = static_cast<const equation::Functions *>(compiled);
  else if (is_action)
    equation.action = static_cast<const equation::ActionFunctions *>(compiled);
  else {
    equation.sensitivities = static_cast<const equation::SensitivityFunctions *>(compiled);
    equation.sensitivity_kernels.integrands = equation.sensitivities->integrands;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- making ---------------------------------------------------------------------------------------------------------

// What an option says about an axis that the grid has not.
static std::string beyond_grid(const std::string &option, PetscInt dim, PetscInt needed, const char *remedy) {
  return option + " is for a grid of " + dimensions((int)needed) + ", but the DMDA has " + std::to_string(dim) + "; " +
         remedy + ", or give the DMDA that it is for a prefix, DMSetOptionsPrefix()";
}

// The ends of the domain, from numbers of -equation_domain; *problem: what is wrong, *sizes: with their number.
static void set_domain(const PetscReal ends[], PetscInt n, PetscInt dim, Equation *equation, std::string *problem,
                       std::string *sizes) {
  bool        ascending = n == 2 || n == 4 || n == 6;
  std::string given;
  for (PetscInt i = 0; i < PetscMin(n, 6); i++) {
    char number[32];
    snprintf(number, sizeof(number), "%s%g", i ? "," : "", (double)ends[i]);
    given += number;
  }
  for (PetscInt i = 0; i + 1 < n && i < 6; i += 2)
    ascending =
        ascending && ends[i] < ends[i + 1] && !PetscIsInfOrNanReal(ends[i]) && !PetscIsInfOrNanReal(ends[i + 1]);
  const std::string numbers = "-equation_domain " + given + " has " + std::to_string(n) + " numbers",
                    needed = std::to_string(2 * dim);
  if (!ascending)
    *problem = numbers + ", or an axis that does not ascend; give the lower and the upper end of each axis, as 0,1,0,2 "
                         "in 2-D";
  else if (n < 2 * dim)
    *sizes = numbers + "; a grid of " + dimensions((int)dim) + " needs " + needed;
  else if (n > 2 * dim)
    *sizes = beyond_grid(numbers + " and", dim, n / 2, ("give the first " + needed).c_str());
  else
    equation->domain.assign(ends, ends + n);
}

// The values of parameters, and the domain, from the options database.
static PetscErrorCode set_from_options(DM da, Equation *equation, char cache[], size_t cache_size, PetscBool *ahead) {
  const char *prefix;
  PetscReal   ends[7];
  PetscInt    n = 7, dim;
  PetscBool   set;
  std::string problem, sizes;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)da, &prefix));
  PetscCall(DMGetDimension(da, &dim));
  const MPI_Comm comm = PetscObjectComm((PetscObject)da);
  const auto     fail = [&](const std::string &message) {
    if (problem.empty()) problem = message;
  };
  PetscOptionsBegin(comm, prefix, "Equation options", "DMDA");
  PetscCall(CheckOptionsAgree(PetscOptionsObject, "-equation_"));
  const Option &folder = find_option(equation_options, "-equation_cache"),
               &domain = find_option(equation_options, "-equation_domain");
  PetscCall(PetscOptionsString(folder.key, folder.meaning, folder.setter, cache, cache, cache_size, NULL));
  PetscCall(read_option(PetscOptionsObject, find_option(equation_options, "-equation_compile_ahead"), ahead));
  for (int i = 0; i < 6; i++) ends[i] = i < (int)equation->domain.size() ? equation->domain[(size_t)i] : i % 2;
  PetscCall(PetscOptionsRealArray(domain.key, domain.meaning, domain.setter, ends, &n, &set));
  if (set) set_domain(ends, n, dim, equation, &problem, &sizes);
  for (int a = 0; a < 3; a++) {
    const Option &stretch = find_option(equation_options, (std::string("-equation_stretch_") + "xyz"[a]).c_str());
    char          given[64] = "";
    PetscCall(PetscOptionsString(stretch.key, stretch.meaning, stretch.setter, given, given, sizeof(given), &set));
    if (!set) continue;
    const std::string words = given, option = std::string(stretch.key) + " " + given;
    const size_t      comma = PetscMin(words.find(','), words.size());
    const std::string wrong = read_stretching(words.substr(0, comma), words.substr(PetscMin(comma + 1, words.size())),
                                              &equation->text.stretching[a]);
    if (!wrong.empty()) fail(option + ": " + wrong);
    if (a >= dim) fail(beyond_grid(option, dim, a + 1, "remove it"));
  }
  for (size_t p = 0; p < equation->parameters.size(); p++) {
    const std::string key = "-equation_" + equation->text.parameters[p].name;
    PetscCall(PetscOptionsReal(key.c_str(), "Parameter of the equation", "DMDAEquationSetParameter",
                               equation->parameters[p], &equation->parameters[p], &set));
    if (set) equation->known[p] = true;
    if (PetscIsInfOrNanReal(equation->parameters[p]))
      fail(key + " is " + std::to_string(equation->parameters[p]) + "; it must be finite");
  }
  const auto read_path = [&](const std::string &key, const char *meaning, const char *setter, std::string *path) {
    char given[PETSC_MAX_PATH_LEN] = "";
    PetscFunctionBegin;
    PetscCall(PetscOptionsString(key.c_str(), meaning, setter, given, given, sizeof(given), NULL));
    *path = given;
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const Option &initial = find_option(equation_options, "-equation_initial");
  PetscCall(read_path(initial.key, initial.meaning, initial.setter, &equation->initial));
  equation->field_files.resize(equation->text.fields.size());
  for (size_t f = 0; f < equation->field_files.size(); f++)
    PetscCall(read_path("-equation_" + equation->text.fields[f].name, "File of a field of the equation",
                        "DMDAEquationSetField", &equation->field_files[f]));
  PetscOptionsEnd();
  SHELLAC_CHECK_ALL(problem.empty(), comm, PETSC_ERR_ARG_OUTOFRANGE, "%s", problem.c_str());
  SHELLAC_CHECK_ALL(sizes.empty(), comm, PETSC_ERR_ARG_SIZ, "%s", sizes.c_str());
  PetscCall(CheckOptionNames(da, *equation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// file: the text's name, in errors.
static PetscErrorCode set_equation(DM da, const std::string &file, const std::string &text, bool own_grid = false) {
  auto            equation = std::make_shared<Equation>();
  char            cache[PETSC_MAX_PATH_LEN] = "";
  PetscInt        dim, dof, width;
  DMDAStencilType stencil;
  PetscBool       is_da, ahead = PETSC_FALSE;
  EquationOnGrid *before;

  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm((PetscObject)da);
  PetscCheck(scalars_serve_equations, comm, PETSC_ERR_SUP,
             "equations need a PETSc in double precision; build Shellac with such a PETSc");
  PetscCall(PetscObjectTypeCompare((PetscObject)da, DMDA, &is_da));
  PetscCheck(is_da, comm, PETSC_ERR_ARG_WRONG, "an equation needs the grid of a DMDA; the DM is another");
  PetscCall(
      CheckAgreement(comm, "the equation's text", text,
                     "give all ranks the same, or call DMDASetEquationFromFile(), which reads the first rank's file"));
  std::string problem = read_equation(file, text, &equation->text);
  PetscCheck(problem.empty(), comm, PETSC_ERR_USER, "%s", problem.c_str());
  for (const auto &p : equation->text.parameters) {
    equation->parameters.push_back((PetscReal)p.value);
    equation->known.push_back(p.has_default);
    equation->parameter_names.push_back(p.name.c_str());
  }
  for (const auto &field : equation->text.fields) equation->field_names.push_back(field.name.c_str());
  equation->parameter_names.push_back(nullptr);
  equation->field_names.push_back(nullptr);
  PetscCall(DMFindEquation(da, &before));
  PetscCheck(!before || before->equation().text.has_rate == equation->text.has_rate, comm, PETSC_ERR_ARG_WRONGSTATE,
             "%s is a %s, but the DMDA's equation is a %s; give it a DMDA of its own", file.c_str(),
             equation->text.has_rate ? "rate" : "residual", equation->text.has_rate ? "residual" : "rate");
  equation->domain.assign(equation->text.domain.begin(), equation->text.domain.end());
  PetscCall(set_from_options(da, equation.get(), cache, sizeof(cache), &ahead));
  PetscCall(DMDAGetInfo(da, &dim, NULL, NULL, NULL, NULL, NULL, NULL, &dof, &width, NULL, NULL, NULL, &stencil));
  const bool unit = own_grid && equation->domain.empty();
  for (PetscInt a = 0; a < dim && unit; a++) equation->domain.insert(equation->domain.end(), {0, 1});
  PetscCheck(equation->domain.empty() || (PetscInt)equation->domain.size() == 2 * dim, comm, PETSC_ERR_ARG_SIZ, "%s",
             equation->text
                 .error_at(equation->text.domain_line, "the domain has " + std::to_string(equation->domain.size()) +
                                                           " numbers; a grid of " + dimensions((int)dim) + " needs " +
                                                           std::to_string(2 * dim))
                 .c_str());
  for (size_t i = 0; i < equation->domain.size(); i++) equation->ends[i / 2][i % 2] = equation->domain[i];
  for (size_t f = 0; f < equation->field_files.size() && equation->text.has_exact; f++) {
    const auto &field = equation->text.fields[f];
    PetscCheck(
        (int)f == equation->text.solid() || (field.formula && equation->field_files[f].empty()), comm,
        PETSC_ERR_ARG_WRONGSTATE, "%s",
        equation->text
            .error_at(field.line, "an exact solution needs fields by formula, as field(" + field.name + ") = 1 + x")
            .c_str());
  }
  auto made = std::make_unique<EquationOnGrid>();
  struct Holder { // destroys what an error leaves
    EquationOnGrid *equation;
    ~Holder() {
      if (equation) (void)!equation->Destroy();
    }
  } holder{made.get()};
  const bool box = stencil == DMDA_STENCIL_BOX, has_solid = equation->text.solid() >= 0;
  equation->shape = {(int)dim, (int)width, box,
                     may_leave_stencil(equation->text, has_solid ? 1 : (int)width, box && !has_solid)};
  PetscCall(made->Create(da, equation)); // checks the grid
  for (size_t f = 0; f < equation->field_files.size(); f++)
    if (!equation->field_files[f].empty()) PetscCall(made->LoadField(f, equation->field_files[f]));
  equation->cache = cache;
  PetscCall(CompileFunctions(comm, *equation, FunctionsOf::values, ahead));
  if (ahead) PetscCall(CompileFunctions(comm, *equation, FunctionsOf::action, true));
  if (ahead && problem_of_sensitivities(equation->text).empty())
    PetscCall(CompileFunctions(comm, *equation, FunctionsOf::data, true));
  PetscCall(made->Try(&equation->linear));
  holder.equation = nullptr;
  PetscCall(compose(da, std::move(made)));
  PetscCall(SetSolverFunctions(da, equation->text));
  PetscCall(add_hooks(da)); // after PETSc's own, which copy functions
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The first rank's file, on all.
static PetscErrorCode read_file(MPI_Comm comm, const std::string &file, std::string *text) {
  PetscMPIInt rank;
  PetscInt    size = -1;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) {
    std::ifstream      stream(file);
    std::ostringstream content;
    if (stream && content << stream.rdbuf()) {
      *text = content.str();
      size = (PetscInt)text->size();
    }
  }
  PetscCallMPI(MPI_Bcast(&size, 1, MPIU_INT, 0, comm));
  PetscCheck(size >= 0, comm, PETSC_ERR_FILE_OPEN,
             "the equation's file '%s' cannot be read, or is empty; give the path of a text with a residual or a rate",
             file.c_str());
  text->resize((size_t)size);
  PetscCallMPI(MPI_Bcast(&(*text)[0], (PetscMPIInt)size, MPI_CHAR, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

using namespace shellac;

PetscErrorCode DMDASetEquation(DM da, const char text[]) {
  PetscFunctionBegin;
  PetscCheck(da, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the DM is null; create a DMDA first");
  SHELLAC_CHECK_ALL(text, PetscObjectComm((PetscObject)da), PETSC_ERR_ARG_NULL, "the equation's text is null");
  PetscCall(ShellacInitializePackage());
  PetscCall(set_equation(da, "equation", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMDASetEquationFromFile(DM da, const char file[]) {
  std::string text;

  PetscFunctionBegin;
  PetscCheck(da, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the DM is null; create a DMDA first");
  SHELLAC_CHECK_ALL(file, PetscObjectComm((PetscObject)da), PETSC_ERR_ARG_NULL,
                    "the name of the equation's file is null");
  PetscCall(ShellacInitializePackage());
  PetscCall(read_file(PetscObjectComm((PetscObject)da), file, &text));
  PetscCall(set_equation(da, file, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMDASetEquationFromOptions(DM da) {
  char        file[PETSC_MAX_PATH_LEN] = "";
  PetscBool   set;
  const char *prefix;

  PetscFunctionBegin;
  PetscCheck(da, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the DM is null; create a DMDA first");
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)da, &prefix));
  PetscOptionsBegin(PetscObjectComm((PetscObject)da), prefix, "Equation options", "DMDA");
  const Option &option = find_option(equation_options, "-equation");
  PetscCall(PetscOptionsString(option.key, option.meaning, option.setter, file, file, sizeof(file), &set));
  PetscOptionsEnd();
  SHELLAC_CHECK_ALL(set, PetscObjectComm((PetscObject)da), PETSC_ERR_ARG_WRONGSTATE,
                    "there is no equation; give -equation <file>");
  PetscCall(DMDASetEquationFromFile(da, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The values that the text has unknowns for are the DMDA's fields, by their names. sizes [given]; given 0: those of a first
// look
static PetscErrorCode create_grid(MPI_Comm comm, const std::string &file, const std::string &text, PetscInt given,
                                  const PetscInt sizes[], DM *da) {
  EquationText    read;
  DMBoundaryType  ends[3];
  EquationOnGrid *on_grid;
  PetscInt        N[3] = {1, 1, 1};

  PetscFunctionBegin;
  const std::string problem = read_equation(file, text, &read);
  PetscCheck(problem.empty(), comm, PETSC_ERR_USER, "%s", problem.c_str());
  PetscCheck(!given || !read.dim || given == read.dim, comm, PETSC_ERR_ARG_SIZ,
             "sizes of %d axes are given, but %s is for %d: give as many, or change its statement grid", (int)given,
             file.c_str(), (int)read.dim);
  const PetscInt dim = given ? given : read.dim ? read.dim : 2;
  for (int a = 0; a < dim; a++) N[a] = given ? sizes[a] : dim == 3 ? 33 : 65;
  for (int a = 0; a < 3; a++) ends[a] = read.periodic[a] ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  PetscCall(DMDACreate(comm, da));
  PetscCall(DMSetDimension(*da, dim));
  PetscCall(DMDASetSizes(*da, N[0], N[1], N[2]));
  PetscCall(DMDASetBoundaryType(*da, ends[0], ends[1], ends[2]));
  PetscCall(DMDASetDof(*da, (PetscInt)read.unknowns.size()));
  PetscCall(DMDASetStencilType(*da, read.box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(*da, PetscMax(read.width, 1)));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  for (size_t c = 0; c < read.unknowns.size(); c++)
    PetscCall(DMDASetFieldName(*da, (PetscInt)c, read.unknowns[c].name.c_str()));
  PetscCall(set_equation(*da, file, text, true));
  PetscCall(DMGetEquation(*da, &on_grid));
  PetscCall(on_grid->SetCoordinates());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMDACreateFromEquation(MPI_Comm comm, const char text[], PetscInt dim, const PetscInt sizes[], DM *da) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(text, comm, PETSC_ERR_ARG_NULL, "the equation's text is null");
  SHELLAC_CHECK_ALL(da, comm, PETSC_ERR_ARG_NULL, "the pointer to the DMDA is null");
  SHELLAC_CHECK_ALL(dim >= 0 && dim <= 3 && (!dim || sizes), comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "%" PetscInt_FMT " sizes are given%s; give those of 1 to 3 axes, or 0 and NULL", dim,
                    sizes ? "" : " as NULL");
  PetscCall(ShellacInitializePackage());
  *da = NULL;
  std::string all = std::to_string(dim);
  PetscInt    empty = 0; // axes before one without points
  for (PetscInt a = 0; a < dim; a++) all += " " + std::to_string(sizes[a]);
  while (empty < dim && sizes[empty] > 0) empty++;
  SHELLAC_CHECK_ALL(empty == dim, comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "%" PetscInt_FMT " points are given along axis %" PetscInt_FMT "; give 1 or more", sizes[empty],
                    empty);
  PetscCall(CheckAgreement(comm, "the grid's sizes", all));
  PetscCall(CheckAgreement(comm, "the equation's text", text));
  PetscCall(create_whole(da, [&](DM *made) { return create_grid(comm, "equation", text, dim, sizes, made); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMDACreateFromEquationFile(MPI_Comm comm, const char file[], DM *da) {
  std::string text;

  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(file, comm, PETSC_ERR_ARG_NULL, "the name of the equation's file is null");
  SHELLAC_CHECK_ALL(da, comm, PETSC_ERR_ARG_NULL, "the pointer to the DMDA is null");
  PetscCall(ShellacInitializePackage());
  PetscCall(create_whole(da, [&](DM *made) {
    PetscFunctionBegin;
    PetscCall(read_file(comm, file, &text));
    PetscCall(create_grid(comm, file, text, 0, NULL, made));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
