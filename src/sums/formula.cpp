// Kernel functions by a formula: their sources, and their sums.

#include "sums/formula.hpp"

#include <algorithm>
#include <cmath>

#include "equations/compiler.hpp"
#include "equations/in_cpp.hpp"
#include "equations/source.hpp"
#include "sums/pairs.hpp"

namespace shellac {

// ---- sources ---------------------------------------------------------------------------------------------------------

static const char numbers_text[] =
#include "equation_numbers.inc"
    ;
static const char plain_text[] =
#include "sum_plain.inc"
    ;
static const char pair_term_text[] =
#include "sum_pair_term.inc"
    ;
static const char loops_on_host_text[] =
#include "sum_loops_on_host.inc"
    ;
static const char kernel_on_gpu_text[] =
#include "sum_kernel_on_gpu.inc"
    ;
static const char interface_text[] =
#include "sum_formula_interface.inc"
    ;
static const char function_text[] =
#include "sum_formula_function.inc"
    ;

static const char host_macros[] =
    "#define SHELLAC_UNROLL_ALL _Pragma(\"GCC unroll 16\")\n"
    "#define SHELLAC_WIDEST\n"
#if defined(__x86_64__) && defined(__GLIBC__)
    // the vectorised functions of the GNU C library
    "#if !defined(__clang__)\n"
    "#define VECTORISED(...) extern \"C\" __attribute__((simd(\"notinbranch\"), const)) __VA_ARGS__ noexcept;\n"
    "VECTORISED(double exp(double)) VECTORISED(double log(double)) VECTORISED(double sin(double))\n"
    "VECTORISED(double cos(double)) VECTORISED(double pow(double, double))\n"
    "VECTORISED(float expf(float)) VECTORISED(float logf(float)) VECTORISED(float sinf(float))\n"
    "VECTORISED(float cosf(float)) VECTORISED(float powf(float, float))\n"
    "#endif\n"
#endif
    ,
                  gpu_macros[] = "#define SHELLAC_UNROLL_ALL _Pragma(\"unroll\")\n";

static std::string source_of(const std::string &formula, bool for_gpu) {
  Node tree;
  (void)parse_expression(formula, &tree); // which Create() has checked
  std::string source = std::string("typedef ") + (sizeof(PetscReal) == sizeof(float) ? "float" : "double") +
                       " PetscReal;\ntypedef " + (sizeof(PetscInt) == sizeof(int) ? "int" : "long long") +
                       " PetscInt;\ntypedef long long PetscInt64;\n" + (for_gpu ? gpu_macros : host_macros);
  const auto part = [&](const char *name, const char *text) {
    source += "#line 1 \"" + std::string(name) + "\"\n" + text + "\n";
  };
  part("plain.hpp", plain_text);
  part("pair_term.hpp", pair_term_text);
  if (for_gpu)
    part("kernel_on_gpu.hpp", kernel_on_gpu_text);
  else
    part("loops_on_host.hpp", loops_on_host_text);
  part("formula_interface.hpp", interface_text);
  part("numbers.hpp", numbers_text);
  source +=
      "namespace shellac {\nnamespace equation {\n"
      "template <class Number_, class R_> SHELLAC_INLINE Number_ formula_value(const Number_ &r, R_ sigma, R_ k) {\n"
      "const R_ pi = R_(3.14159265358979323846);\nreturn Number_(\n#line 1 \"" +
      std::string(compiled_text) + "\"\n" + in_cpp({}, tree) +
      "\n);\n}\n} // namespace equation\n} // namespace shellac\n";
  part("formula_function.hpp", function_text);
  return source;
}

// ---- kernels ---------------------------------------------------------------------------------------------------------

// The kernels of a formula, as the other functions' in pairs.hpp.
struct FormulaKernel {
  const char *name;
  SumForm     form;
  int         columns, sums, of_double, of_single; // targets a thread
  int         threads = 128;
};
static const FormulaKernel kernel_table[] = {{"sum_few", SumForm::value, 1, 1, 2, 2},
                                             {"sum_many", SumForm::value, 1, 1, 4, 8},
                                             {"sum_columns", SumForm::value, 4, 4, 2, 2},
                                             {"sum_gradient", SumForm::gradient, 1, 3, 2, 2},
                                             {"sum_transposed", SumForm::gradient_transposed, 1, 1, 2, 2},
                                             {"sum_groups", SumForm::value, 1, 1, 2, 2, 64}};
enum { few_kernel, many_kernel, columns_kernel, gradient_kernel, transposed_kernel, groups_kernel, values_kernel };
static const char values_name[] = "many_values"; // of that kernel, after those of the table

template <class T> std::string formula_kernels(const std::string &formula) {
  static const char *const forms[] = {"value", "gradient", "gradient_transposed"};
  constexpr bool           narrow = sizeof(T) == sizeof(float);
  const std::string        number = narrow ? "float" : "double";
  std::string              source = source_of(formula, true) + "namespace shellac {\nusing device::Arguments;\n";
  for (const FormulaKernel &k : kernel_table) {
    const std::string threads = std::to_string(k.threads);
    source += "extern \"C\" __global__ void __launch_bounds__(" + threads + ") " + k.name +
              "(const __grid_constant__ Arguments<FormulaFunction<" + number +
              ">> a) {\ndevice::sum_kernel<FormulaFunction<" + number + ">, " + number +
              ", SumForm::" + forms[(int)k.form] + ", " + std::to_string(k.columns) + ", " +
              std::to_string(narrow ? k.of_single : k.of_double) + ", " + threads + ">(a);\n}\n";
  }
  source += "extern \"C\" __global__ void " + std::string(values_name) + "(const __grid_constant__ FormulaFunction<" +
            number +
            "> f, PetscInt n, const double *r2, double *g, bool own) {\n"
            "const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;\n"
            "if (i < n) g[i] = own || r2[i] > 0 ? f.value((" +
            number + ")r2[i]) : 0;\n}\n";
  return source + "} // namespace shellac\n";
}
template std::string formula_kernels<float>(const std::string &);
template std::string formula_kernels<double>(const std::string &);

template <class T> PetscErrorCode KernelFormula::NeedKernels(MPI_Comm comm) {
  Kernels                 &made = kernels<T>();
  std::vector<std::string> names;

  PetscFunctionBegin;
  if (!made.tried) {
    for (const FormulaKernel &k : kernel_table) names.push_back(k.name);
    names.push_back(values_name);
    PetscCall(made.library.Create(comm, {{formula_kernels<T>(text_), names}}, "the formula", "", &made.problem));
    PetscMPIInt absent = !made.library.present();
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &absent, 1, MPI_INT, MPI_MAX, comm));
    if (absent && made.problem.empty()) made.problem = "another rank cannot load them";
    made.resident.assign(names.size(), 0);
    made.tried = true;
  }
  PetscCheck(made.problem.empty(), comm, PETSC_ERR_SUP,
             "there are no kernels of the formula %s for the GPU: %s; use vectors on the host", text_.c_str(),
             made.problem.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}
template PetscErrorCode KernelFormula::NeedKernels<float>(MPI_Comm);
template PetscErrorCode KernelFormula::NeedKernels<double>(MPI_Comm);

PetscErrorCode KernelFormula::NeedKernels(MPI_Comm comm, PetscMemType memory, bool narrow) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  const Kernels &made = narrow ? kernels<float>() : kernels<double>();
  if (made.tried && made.problem.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  // vectors may be bound to the host on some ranks only
  PetscMPIInt on_gpu = PetscMemTypeDevice(memory);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &on_gpu, 1, MPI_INT, MPI_MAX, comm));
  if (!on_gpu) PetscFunctionReturn(PETSC_SUCCESS);
  if (narrow)
    PetscCall(NeedKernels<float>(comm));
  else
    PetscCall(NeedKernels<double>(comm));
#else
  (void)comm, (void)memory, (void)narrow;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- a formula -------------------------------------------------------------------------------------------------------

PetscErrorCode KernelFormula::Create(MPI_Comm comm, const std::string &text, std::shared_ptr<KernelFormula> *formula) {
  std::vector<std::string> known = {"r", "sigma", "k", "pi"}, functions;
  std::string              wrong;
  Node                     tree;
  const void              *compiled;

  PetscFunctionBegin;
  auto made = std::make_shared<KernelFormula>();
  made->text_ = text;
  PetscCheck(text.find_first_not_of(" \t\n") != std::string::npos, comm, PETSC_ERR_USER,
             "the formula of the kernel is empty; give one, as -mat_kernelsum_formula \"exp(-r/sigma)\"");
  const Mistake mistake = parse_expression(text, &tree);
  PetscCheck(mistake.message.empty(), comm, PETSC_ERR_USER, "the formula, at its letter %d: %s\n  %s",
             (int)mistake.at + 1, mistake.message.c_str(), text.c_str());
  for (const Function &f : expression_functions) functions.push_back(f.name);
  known.insert(known.end(), functions.begin(), functions.end());
  for_each_node(tree, [&](const Node &node) {
    const bool called = node.kind == Node::call;
    if ((!called && node.kind != Node::name) || !wrong.empty()) return;
    const std::string near = suggestion(node.text, known);
    const Function   *function = find_function(node.text);
    const size_t      takes = function ? function->arguments() : 0;
    if (!std::count(known.begin(), known.end(), node.text))
      wrong = "has an unknown name, " + node.text + (near.empty() ? "." : near) +
              " It may have r, sigma, k (the wavenumber), pi and the functions of equations, as exp and pow";
    else if (called && !function)
      wrong = "calls " + node.text + ", which is no function; a product is written " + node.text + "*(...)";
    else if (node.parts.size() != takes)
      wrong = "has " + node.text + " without its " + (takes == 1 ? "argument" : "two arguments");
    if (node.text == "sigma") made->uses_sigma_ = true;
    if (node.text == "k") made->uses_wavenumber_ = true;
  });
  PetscCheck(wrong.empty(), comm, PETSC_ERR_USER, "the formula %s\n  %s", wrong.c_str(), text.c_str());
  PetscCall(CompileSource(comm, source_of(text, false), {"the formula", "formula", {text}}, "", &compiled));
  made->functions_ = static_cast<const FormulaFunctions *>(compiled);
  *formula = made;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> bool KernelFormula::singular(const Parameters &parameters) const {
  const bool narrow = sizeof(T) == sizeof(float);
  return !std::isfinite((narrow ? functions_->value_in_single : functions_->value)(parameters, 0).re);
}

FunctionInfo KernelFormula::info(const Parameters &parameters, bool narrow) const {
  const auto one = [](const Parameters &) { return 1.; };
  const bool none = narrow ? singular<float>(parameters) : singular<double>(parameters); // no value at r = 0
  const int  flops = 4 + 4 * (int)std::count(text_.begin(), text_.end(), '(');           // about
  return {"formula", text_.c_str(), uses_sigma_,       uses_wavenumber_, none, false, flops,
          one,       one,           functions_->value, functions_->slope};
}

// ---- sums ------------------------------------------------------------------------------------------------------------

static const host::FunctionLoops<double> &loops_in(const FormulaFunctions &f, double) {
  return f.in_double;
}
static const host::FunctionLoops<float> &loops_in(const FormulaFunctions &f, float) {
  return f.in_single;
}

#if SHELLAC_CUDA
template <class T> static PetscErrorCode sum_on_gpu(const PairSum &s, const Scales<T> &scales) {
  KernelFormula::Kernels &kernels = s.formula->kernels<T>();

  PetscFunctionBegin;
  PetscCheck(kernels.library.present(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "the formula's kernels have not been made");
  const auto launch = [&](int which, int column) {
    const FormulaKernel &k = kernel_table[which];
    return device::launch_kernel(
        s, device::arguments_of(s, FormulaNumbers<T>(s.parameters), scales.scale, scales.factor, column),
        {kernels.library.kernel((size_t)which), k.sums, 1,
         k.threads * (sizeof(T) == sizeof(float) ? k.of_single : k.of_double), k.threads,
         &kernels.resident[(size_t)which]});
  };
  if (s.form == SumForm::gradient)
    PetscCall(launch(gradient_kernel, 0));
  else if (s.form == SumForm::gradient_transposed)
    PetscCall(launch(transposed_kernel, 0));
  else {
    int column = 0;
    for (; column + 4 <= s.columns; column += 4) PetscCall(launch(columns_kernel, column));
    const int one = device::has_small_groups(s) ? groups_kernel : device::fills(s, 2) ? many_kernel : few_kernel;
    for (; column < s.columns; column++) PetscCall(launch(one, column));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

template <class T> PetscErrorCode SumFormula(const PairSum &s) {
  const FormulaNumbers<T> numbers(s.parameters);
  const Scales<T>         scales(s, free_unit<T>(s.parameters), 1);

  PetscFunctionBegin;
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(s.memory)) {
    PetscCall(sum_on_gpu<T>(s, scales));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  host::sum_columns_of<T>(s, loops_in(s.formula->functions(), T()), s.formula->singular<T>(s.parameters), 1, &numbers,
                          scales.scale, scales.factor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaValues(const ManyValues &v) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(v.memory)) {
    KernelFormula::Kernels &kernels = v.formula->kernels<double>();
    FormulaNumbers<double>  numbers(v.parameters);
    ManyValues              copy = v;
    cudaStream_t            stream;
    void                   *arguments[] = {&numbers, &copy.n, &copy.r2, &copy.g, &copy.own_value_at_zero};
    if (!v.n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCheck(kernels.library.present(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "the formula's kernels have not been made");
    PetscCall(current_stream(&stream));
    PetscCallCUDA(cudaLaunchKernel(kernels.library.kernel(values_kernel), dim3((unsigned)(((size_t)v.n + 255) / 256)),
                                   dim3(256), arguments, 0, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  const auto value = v.formula->functions().value;
  for (PetscInt i = 0; i < v.n; i++) v.g[i] = v.own_value_at_zero || v.r2[i] > 0 ? value(v.parameters, v.r2[i]).re : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode SumFormula<float>(const PairSum &);
template PetscErrorCode SumFormula<double>(const PairSum &);

} // namespace shellac
