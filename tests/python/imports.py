"""When and how the Python package may be imported. Each case is a program of its own.

    python3 imports.py [LIBRARY-FOR-ANOTHER-PETSC]
"""

import ast
import os
import subprocess
import sys
import unittest

USE = """
from petsc4py import PETSc
A = PETSc.Mat().create()
A.setType("laplace")
assert A.getType() == "laplace"
assert PETSc.Options().hasName("given") == GIVEN
da = PETSc.DMDA().create([5, 5])
assert shellac.laplace(da).getType() == "laplace"
"""


def run(code, **environment):
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_COMM", "PMIX", "PMI_"))}
    variables.update(environment)
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


class Imports(unittest.TestCase):
    def check(self, code, given=False, **environment):
        code, output = run(code + USE.replace("GIVEN", str(given)), **environment)
        self.assertEqual(code, 0, output)

    def test_before_petsc(self):
        self.check("import shellac")

    def test_before_petsc_is_initialised_with_arguments(self):
        self.check("import shellac, petsc4py; petsc4py.init(['program', '-given'])", given=True)

    def test_after_petsc(self):
        self.check("import petsc4py; petsc4py.init(['program', '-given'])\nfrom petsc4py import PETSc\nimport shellac",
                   given=True)

    def test_without_any_use_of_petsc(self):
        code, output = run("import shellac; print(shellac.library_path()); help(shellac.laplace)")
        self.assertEqual(code, 0, output)

    def test_dll_append_needs_no_package(self):
        path = os.environ["SHELLAC_LIBRARY"]
        use = "from petsc4py import PETSc; A = PETSc.Mat().create(); A.setType('laplace')"
        for code, environment in ((use, {"PETSC_OPTIONS": f"-dll_append {path}"}),
                                  (f"import petsc4py; petsc4py.init(['p', '-dll_append', {path!r}]); {use}", {})):
            status, output = run(code, **environment)
            self.assertEqual(status, 0, output)

    def test_the_version_is_the_library_s(self):
        code, output = run("import shellac; print(shellac.__version__)")
        self.assertEqual(code, 0, output)
        self.assertTrue(os.path.realpath(os.environ["SHELLAC_LIBRARY"]).endswith(".so." + output.strip()), output)

    def test_the_types_are_of_the_functions_that_there_are(self):
        code, path = run("import shellac; print(shellac.__file__)")
        self.assertEqual(code, 0, path)
        with open(path.strip() + "i") as file:
            stub = ast.parse(file.read())
        methods = next(node.body for node in stub.body if isinstance(node, ast.ClassDef))
        stated = {node.name: node for node in stub.body + methods
                  if isinstance(node, ast.FunctionDef) and not node.decorator_list and node.name != "__getattr__"}
        names = {name: [a.arg for a in f.args.posonlyargs + f.args.args + f.args.kwonlyargs] for name, f in stated.items()}
        code, found = run("import inspect, shellac\n"
                          "own = [f for f in list(vars(shellac).values()) + list(vars(shellac.Equation).values())\n"
                          "       if inspect.isfunction(f) and f.__module__.startswith('shellac.')]\n"
                          "print({f.__name__: list(inspect.signature(f).parameters) for f in own\n"
                          f"       if f.__name__ in {list(names)} or f.__name__ in filter(str.islower, shellac.__all__)}})")
        self.assertEqual(code, 0, found)
        variable = {"values", "settings"}
        self.assertEqual({n: [a for a in args if a not in variable or n in ("vector", "scatter")]
                          for n, args in ast.literal_eval(found).items()}, names)

    def test_a_missing_library_is_named(self):
        code, output = run("import shellac", SHELLAC_LIBRARY="/nowhere/libshellac.so")
        self.assertNotEqual(code, 0)
        self.assertIn("ImportError: libshellac.so is not found; set SHELLAC_LIBRARY", output)

    @unittest.skipUnless(len(sys.argv) > 1, "no library for another PETSc is at hand")
    def test_a_library_for_another_petsc_is_an_error_that_names_both(self):
        for code in ("from petsc4py import PETSc; import shellac",
                     "import shellac; from petsc4py import PETSc; shellac.laplace(PETSc.DMDA().create([5, 5]))"):
            status, output = run(code, SHELLAC_LIBRARY=sys.argv[1])
            self.assertNotEqual(status, 0)
            self.assertIn("was built with another PETSc", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
