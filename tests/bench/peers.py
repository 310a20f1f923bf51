"""Times of equations as text beside those of py-pde, which compiles with Numba, as a table.

    python3 -m venv peers && peers/bin/python -m pip install py-pde
    peers/bin/python tests/bench/peers.py build/default/bin/equation

Both have the same grid, differences, initial state, steps and scheme, explicit Euler, one thread. The states at the end
must agree. Times are seconds of processor time, which other programs disturb less: those of steps are the least of three
runs, whole ones are of one run that compiles. Names of equations may follow the program.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

# Of each: the text and the same for the peer.
EQUATIONS = {
    "diffusion": dict(
        text="grid(2)\n neumann(sides)\n rate = laplacian(u)",
        peer={"u": "laplace(u)"}, dim=2, periodic=False, step=0.1),
    "Allen–Cahn": dict(
        text="grid(3)\n neumann(sides)\n rate = laplacian(u) + u - u^3",
        peer={"u": "laplace(u) + u - u**3"}, dim=3, periodic=False, step=0.1),
    "Cahn–Hilliard": dict(
        text="grid(2, box, 2)\n neumann(sides)\n rate = laplacian(u^3 - u - laplacian(u))",
        peer={"u": "laplace(u**3 - u - laplace(u))"}, dim=2, periodic=False, step=0.01),
    "Gray–Scott": dict(
        text="grid(2)\n unknowns(u, v)\n periodic(x, y)\n"
             "rate(u) = 0.16*laplacian(u) - u*v*v + 0.04*(1 - u)\n"
             "rate(v) = 0.08*laplacian(v) + u*v*v - 0.1*v",
        peer={"u": "0.16*laplace(u) - u*v*v + 0.04*(1 - u)", "v": "0.08*laplace(v) + u*v*v - 0.1*v"},
        dim=2, periodic=True, step=1),
    "Kuramoto–Sivashinsky": dict(
        text="grid(2, box, 2)\n periodic(x, y)\n rate = -laplacian(u + laplacian(u)) - (dx(u)^2 + dy(u)^2)/2",
        peer={"u": "-laplace(u + laplace(u)) - gradient_squared(u)/2"}, dim=2, periodic=True, step=0.002),
}
SIZES = {2: ((64, 20000), (512, 1000)), 3: ((16, 20000), (64, 1000))}  # points along each axis, steps
AXES = "xyz"


def initial(equation, n):
    """The state [unknown, z, y, x], noise; of two substances in a patch in the middle. Spacings are 1."""
    noise = 0.1 * np.random.default_rng(1).standard_normal((len(equation["peer"]),) + (n,) * equation["dim"])
    if len(noise) == 1:
        return 0.5 + noise
    patch = np.zeros(noise.shape[1:])
    patch[3 * n // 8:5 * n // 8, 3 * n // 8:5 * n // 8] = 1
    return np.array([1 - patch / 2, patch / 4]) + patch * noise


def write(path, values):
    """PETSc's binary format of a vector: the unknowns of a point stand together."""
    with open(path, "wb") as file:
        file.write(np.array([1211214, values.size], ">i4").tobytes())
        file.write(np.moveaxis(values, 0, -1).astype(">f8").tobytes())


def read(path, shape):
    with open(path, "rb") as file:
        values = np.frombuffer(file.read()[8:], ">f8").astype(float)
    return np.moveaxis(values.reshape(shape[1:] + shape[:1]), -1, 0)


def run_peer(name, n, steps, folder):
    """In a process of its own, where nothing is compiled yet."""
    import pde
    pde.config["backend.numba.multithreading"] = "never"
    equation = EQUATIONS[name]
    values = initial(equation, n)
    grid = pde.UnitGrid([n] * equation["dim"], periodic=equation["periodic"])
    fields = [pde.ScalarField(grid, v, label=u) for u, v in zip(equation["peer"], values)]
    state = fields[0] if len(fields) == 1 else pde.FieldCollection(fields)
    end = steps * equation["step"]
    bc = "periodic" if equation["periodic"] else {"derivative": 0}
    again = [state.copy() for _ in range(3)]
    alone = []
    start = time.process_time()  # as solve() does it, which compiles in each call
    eq = pde.PDE(equation["peer"], bc=bc)
    stepper = pde.EulerSolver(eq, backend="numba").make_stepper(state, equation["step"])
    stepper(state, 0, end)
    whole = time.process_time() - start
    for other in again:
        start = time.process_time()
        stepper(other, 0, end)
        alone.append(time.process_time() - start)
        assert np.array_equal(other.data, state.data)
    np.save(f"{folder}/peer.npy", state.data.reshape(values.shape))
    print(whole, min(alone))


def peer(name, n, steps, folder):
    command = [sys.executable, __file__, "--peer", name, str(n), str(steps), folder]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [float(v) for v in output.split()[-2:]]


def processor_time(command, env):
    """Of a program and those that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def ours(program, name, n, steps, folder):
    equation = EQUATIONS[name]
    write(f"{folder}/initial", initial(equation, n))
    with open(f"{folder}/text.h", "w", encoding="utf-8") as file:
        file.write(equation["text"] + f"\n domain({', '.join([f'0, {n}'] * equation['dim'])})\n")
    command = [program, "-equation", f"{folder}/text.h", "-equation_initial", f"{folder}/initial"]
    for axis in AXES[:equation["dim"]]:
        command += [f"-da_grid_{axis}", str(n)]
    command += ["-ts_type", "euler", "-ts_dt", str(equation["step"]), "-ts_max_time", "1e9", "-picture", "none"]
    command += ["-u_view", f"binary:{folder}/ours", "-ts_max_steps"]
    with tempfile.TemporaryDirectory() as cache:  # empty: the first run compiles the text
        env = dict(os.environ, SHELLAC_CACHE=cache)
        whole = processor_time(command + [str(steps)], env)
        one_step, all_steps = [min(processor_time(command + [str(count)], env) for _ in range(3)) for count in (1, steps)]
    return whole, all_steps - one_step


def main():
    os.environ.update(OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")
    program, names = sys.argv[1], sys.argv[2:] or list(EQUATIONS)
    print("| equation | grid | steps | py-pde: whole | steps | Shellac: whole | steps | ratio of steps | difference |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            dim = EQUATIONS[name]["dim"]
            for n, steps in SIZES[dim]:
                theirs, own = peer(name, n, steps, folder), ours(program, name, n, steps, folder)
                state = np.load(f"{folder}/peer.npy")
                difference = np.abs(read(f"{folder}/ours", state.shape) - state).max() / np.abs(state).max()
                if not difference < 1e-8:
                    sys.exit(f"{name}, {n} points: the states differ by {difference}")
                print(f"| {name} | {n}{'²³'[dim - 2]} | {steps} | {theirs[0]:.2f} | {theirs[1]:.3f} | {own[0]:.2f} "
                      f"| {own[1]:.3f} | {theirs[1] / own[1]:.1f} | {difference:.0e} |", flush=True)


if sys.argv[1] == "--peer":
    run_peer(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
else:
    main()
