// Formulas that an application registers (shellac/stencil.hpp): the types, their parameters, fields and time.

#include <cctype>
#include <cstring>

#include "formulas/field.hpp"
#include "formulas/mat.hpp"
#include "options/agreement.hpp"

namespace shellac {

struct OwnFormulaMat final : FormulaMat {
  using Make = Formula *(*)(void);

  OwnFormulaMat(const char *type, Make make) : type(type), make(make), settings(make()) {
    for (GridField *field = settings->fields_; field; field = field->next_) held.push_back(nullptr);
  }

  std::unique_ptr<Formula> make_formula() const override;
  PetscErrorCode           load_fields() override;
  PetscErrorCode           set_from_options(Mat A, OptionItems PetscOptionsObject) override;
  PetscErrorCode           view_equation(PetscViewer viewer) const override;
  PetscScalar              of_constant() const override;
  bool                     has_known_sums() const override;
  PetscErrorCode           check_complete() const override;
  bool                     is_complete() const override { return missing() == nullptr; }
  bool                     is_of_program() const override { return true; }
  void                     take_settings(const CapturedMat &from) override;

  const char    *missing() const;                        // the first field without values; null for none
  Parameter     *find_parameter(const char *name) const; // null for none
  int            find_field(const char *name) const;     // -1 for none
  PetscScalar   *value(Parameter *parameter) { return &parameter->value_; }
  std::string    names(bool of_fields) const;           // "alpha, beta"
  PetscErrorCode check_registered(MPI_Comm comm) const; // names

  std::vector<HeldField *> fields() override {
    std::vector<HeldField *> all;
    for (HeldField &field : held) all.push_back(&field);
    return all;
  }

  std::string              type;
  Make                     make;
  std::unique_ptr<Formula> settings; // has the parameters' values
  std::vector<HeldField>   held;     // its fields; null: not set. Not read before MatSetUp()
};

std::unique_ptr<Formula> OwnFormulaMat::make_formula() const {
  std::unique_ptr<Formula> made(make());
  size_t                   n = 0;
  Parameter               *from = settings->parameters_;
  for (Parameter *to = made->parameters_; to; to = to->next_, from = from->next_) to->value_ = from->value_;
  for (GridField *field = made->fields_; field; field = field->next_, n++)
    if (held[n]) {
      field->values_ = held[n]->data();
      field->components_ = held[n]->components();
    }
  return made;
}

const char *OwnFormulaMat::missing() const {
  size_t n = 0;
  for (const GridField *field = settings->fields_; field; field = field->next_)
    if (!held[n++]) return field->name_;
  return nullptr;
}

PetscErrorCode OwnFormulaMat::check_complete() const {
  PetscFunctionBegin;
  PetscCheck(is_complete(), grid.comm, PETSC_ERR_ORDER,
             "the field %s of the operator %s is not set; set it by MatFormulaSetField() before the operator is used",
             missing(), type.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

Parameter *OwnFormulaMat::find_parameter(const char *name) const {
  Parameter *parameter = settings->parameters_;
  while (parameter && strcmp(parameter->name_, name)) parameter = parameter->next_;
  return parameter;
}

int OwnFormulaMat::find_field(const char *name) const {
  int n = 0;
  for (const GridField *field = settings->fields_; field; field = field->next_, n++)
    if (!strcmp(field->name_, name)) return n;
  return -1;
}

std::string OwnFormulaMat::names(bool of_fields) const {
  std::string text;
  const auto  add = [&](const char *name) { text += (text.empty() ? "" : ", ") + std::string(name); };
  if (of_fields)
    for (const GridField *field = settings->fields_; field; field = field->next_) add(field->name_);
  else
    for (const Parameter *parameter = settings->parameters_; parameter; parameter = parameter->next_)
      add(parameter->name_);
  return text.empty() ? "none" : text;
}

// Rows far from the ends times the function 1; of rows that differ it is only known whether it is zero.
PetscScalar OwnFormulaMat::of_constant() const {
  PetscScalar sum = 0;
  if (!is_complete() || relative_sum <= 64 * PETSC_MACHINE_EPSILON) return 0;
  if (!formula->constant()) return 1;
  StencilRow row(grid.dim, formula->shape(), formula->dof());
  formula->row(any_point(), row.row());
  row.for_each([&](int, PetscInt, PetscInt, PetscScalar value) { sum += value; });
  return rows_conjugated ? PetscConj(sum) : sum;
}

bool OwnFormulaMat::has_known_sums() const {
  return formula->constant() || relative_sum <= 64 * PETSC_MACHINE_EPSILON;
}

PetscErrorCode OwnFormulaMat::load_fields() {
  auto   loaded = held;
  size_t n = 0;

  PetscFunctionBegin;
  for (const GridField *field = settings->fields_; field; field = field->next_, n++) {
    if (!held[n]) continue;
    const std::string name = std::string("field ") + field->name_;
    auto              values = std::make_shared<LoadedField>();
    PetscInt          total;
    PetscCall(VecGetSize(held[n]->vec(), &total));
    const PetscInt components = PetscMax(total / (grid.offset.back() / grid.dof), 1);
    PetscCall(values->Check(grid, components, held[n]->vec(), name.c_str()));
    PetscCall(values->Read(grid, ends, grid.width, true, components));
    loaded[n] = values;
  }
  held = loaded;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void OwnFormulaMat::take_settings(const CapturedMat &other) {
  const auto &from = static_cast<const OwnFormulaMat &>(other);
  FormulaMat::take_settings(other);
  Parameter *its = from.settings->parameters_;
  for (Parameter *to = settings->parameters_; to; to = to->next_, its = its->next_) to->value_ = its->value_;
  held = from.held;
}

// ---- setters -------------------------------------------------------------------------------------------------------

static PetscErrorCode set_parameter(Mat A, const char name[], PetscScalar value) {
  OwnFormulaMat *context;
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  SHELLAC_CHECK_ALL(name, comm, PETSC_ERR_ARG_NULL, "the parameter's name is null; the operator %s has: %s",
                    context->type.c_str(), context->names(false).c_str());
  Parameter *parameter = context->find_parameter(name);
  SHELLAC_CHECK_ALL(parameter, comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "the operator %s has no parameter %s; its parameters: %s", context->type.c_str(), name,
                    context->names(false).c_str());
  SHELLAC_CHECK_ALL(!PetscIsInfOrNanScalar(value), comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "the parameter %s is %g; it must be finite", name, (double)PetscRealPart(value));
  PetscCall(CheckCallAgrees(comm, std::string("MatFormulaSetParameter() of ") + name, 1, &value));
  PetscFunctionReturn(MatFormulaChangeSetting(A, context, context->value(parameter), value));
}

static PetscErrorCode get_parameter(Mat A, const char name[], PetscScalar *value) {
  OwnFormulaMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  const Parameter *parameter = name ? context->find_parameter(name) : nullptr;
  PetscCheck(parameter, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "the operator %s has no parameter %s; its parameters: %s", context->type.c_str(), name ? name : "(null)",
             context->names(false).c_str());
  *value = (*parameter)();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_field(Mat A, const char name[], Vec v) {
  OwnFormulaMat *context;
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  const int n = context->find_field(name ? name : "");
  SHELLAC_CHECK_ALL(name && n >= 0, comm, name ? PETSC_ERR_ARG_OUTOFRANGE : PETSC_ERR_ARG_NULL,
                    "the operator %s has no field %s; its fields: %s", context->type.c_str(), name ? name : "(null)",
                    context->names(true).c_str());
  SHELLAC_CHECK_ALL(v, comm, PETSC_ERR_ARG_NULL, "the vector of the field %s is null", name);
  auto field = std::make_shared<LoadedField>();
  PetscCall(field->Hold(v));
  PetscFunctionReturn(MatFormulaChangeSetting(A, context, &context->held[(size_t)n], HeldField(field)));
}

static PetscErrorCode set_time(Mat A, PetscReal time) {
  OwnFormulaMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  SHELLAC_CHECK_ALL(!PetscIsInfOrNanReal(time), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
                    "the time is %g; it must be finite", (double)time);
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)A), "MatFormulaSetTime()", 1, &time));
  PetscFunctionReturn(MatFormulaChangeSetting(A, context, &context->time, time));
}

// ---- options and view ----------------------------------------------------------------------------------------------

PetscErrorCode OwnFormulaMat::set_from_options(Mat A, OptionItems PetscOptionsObject) {
  PetscFunctionBegin;
  for (Parameter *parameter = settings->parameters_; parameter; parameter = parameter->next_) {
    const std::string key = "-mat_" + type + "_" + parameter->name_, present = number(parameter->value_);
    const Option option = {key.c_str(), "any scalar", present.c_str(), parameter->meaning_, "MatFormulaSetParameter"};
    PetscScalar  value = parameter->value_;
    PetscBool    set;
    PetscCall(read_scalar_option(PetscOptionsObject, PetscObjectComm((PetscObject)A), option, &value, &set));
    if (set && value != parameter->value_) PetscCall(set_parameter(A, parameter->name_, value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OwnFormulaMat::view_equation(PetscViewer viewer) const {
  size_t n = 0;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "formula %s: %s of width %" PetscInt_FMT ", %" PetscInt_FMT " unknown%s a point%s\n",
                                   type.c_str(), grid.box ? "box" : "star", grid.width, grid.dof,
                                   grid.dof > 1 ? "s" : "", formula->constant() ? ", all rows alike" : ""));
  for (const Parameter *parameter = settings->parameters_; parameter; parameter = parameter->next_) {
    char imaginary[32] = "";
    if (PetscImaginaryPart(parameter->value_) != 0)
      PetscCall(PetscSNPrintf(imaginary, sizeof(imaginary), " + %gi", (double)PetscImaginaryPart(parameter->value_)));
    PetscCall(PetscViewerASCIIPrintf(viewer, "parameter %s = %g%s: %s\n", parameter->name_,
                                     (double)PetscRealPart(parameter->value_), imaginary, parameter->meaning_));
  }
  for (const GridField *field = settings->fields_; field; field = field->next_)
    PetscCall(PetscViewerASCIIPrintf(viewer, "field %s%s: %s\n", field->name_, held[n++] ? "" : ", not set",
                                     field->meaning_));
  if (time != 0) PetscCall(PetscViewerASCIIPrintf(viewer, "time %g\n", (double)time));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- types ---------------------------------------------------------------------------------------------------------

static bool is_name(const char *name) {
  bool is = name && *name;
  for (const char *c = name; is && *c; c++) is = isalnum((unsigned char)*c) || *c == '_';
  return is;
}

PetscErrorCode OwnFormulaMat::check_registered(MPI_Comm comm) const {
  std::vector<std::string> taken = {"boundary", "robin", "lengths", "halo"};

  PetscFunctionBegin;
  const auto take = [&](const char *what, const char *name) {
    PetscFunctionBegin;
    PetscCheck(is_name(name), comm, PETSC_ERR_ARG_WRONG,
               "a %s of the formula %s has the name \"%s\"; use letters, digits and underscores", what, type.c_str(),
               name ? name : "(null)");
    for (const std::string &other : taken)
      PetscCheck(other != name, comm, PETSC_ERR_ARG_WRONG,
                 "the formula %s has the %s %s, a name that another of its options, parameters or fields has",
                 type.c_str(), what, name);
    taken.push_back(name);
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  for (const Parameter *parameter = settings->parameters_; parameter; parameter = parameter->next_)
    PetscCall(take("parameter", parameter->name_));
  for (const GridField *field = settings->fields_; field; field = field->next_) PetscCall(take("field", field->name_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Names such as aij, which stand for a type on one rank and another on several, are in no list of types.
static PetscErrorCode names_a_type(const char *name, bool *names) {
  Mat A;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  *names = !MatSetType(A, name);
  PetscCall(PetscPopErrorHandler());
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

using namespace shellac;

PetscErrorCode ShellacRegisterFormula(const char type[], Formula *(*make)(void), PetscErrorCode (*create)(Mat),
                                      char       registered[64]) {
  PetscErrorCode (*present)(Mat) = NULL;

  PetscFunctionBegin;
  PetscCall(ShellacInitializePackage());
  PetscCheck(is_name(type) && strlen(type) < 64, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "the name of the Mat type is \"%s\"; use letters, digits and underscores, fewer than 64",
             type ? type : "(null)");
  PetscCall(PetscFunctionListFind(MatList, type, &present));
  bool is_taken = present && present != create;
  if (!present) PetscCall(names_a_type(type, &is_taken));
  PetscCheck(!is_taken, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "%s is the name of another Mat type; take another name",
             type);
  PetscCheck(!registered[0] || !strcmp(registered, type), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "the formula is registered as %s already; derive a class from it to register it as %s, too", registered,
             type);
  OwnFormulaMat sample(type, make);
  PetscCall(sample.check_registered(PETSC_COMM_SELF));
  PetscCall(PetscStrncpy(registered, type, 64));
  PetscCall(MatRegister(type, create));
  if (!present) PetscCall(MatStencilRegisterSolvers(type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ShellacCreateFormula(Mat A, const char type[], Formula *(*make)(void)) {
  PetscFunctionBegin;
  PetscCall(MatCreateFormulaShell(A, type, new OwnFormulaMat(type, make)));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatFormulaSetParameter_C", set_parameter));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatFormulaGetParameter_C", get_parameter));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatFormulaSetField_C", set_field));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatFormulaSetTime_C", set_time));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateFormula(DM da, MatType type, Mat *A) {
  PetscFunctionBegin;
  PetscCall(MatCreateOfType(
      da, type,
      [&](Mat made) {
        bool is;
        PetscFunctionBegin;
        PetscCall(MatIsFormula(made, &is));
        PetscCheck(is, PetscObjectComm((PetscObject)da), PETSC_ERR_ARG_UNKNOWN_TYPE,
                   "%s is no formula; register it by MatRegisterFormula()", type);
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFormulaSetParameter(Mat A, const char name[], PetscScalar value) {
  return try_method(A, "MatFormulaSetParameter_C", NULL, name, value);
}

PetscErrorCode MatFormulaGetParameter(Mat A, const char name[], PetscScalar *value) {
  PetscBool found = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCheck(value, A ? PetscObjectComm((PetscObject)A) : PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "the place for the parameter is null; give the address of a PetscScalar");
  PetscCall(try_method(A, "MatFormulaGetParameter_C", &found, name, value));
  PetscCheck(found, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "only a Mat of a registered formula has parameters (MatRegisterFormula())");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFormulaSetField(Mat A, const char name[], Vec field) {
  return try_method(A, "MatFormulaSetField_C", NULL, name, field);
}

PetscErrorCode MatFormulaSetTime(Mat A, PetscReal time) {
  return try_method(A, "MatFormulaSetTime_C", NULL, time);
}
