"""The figures of the examples in this folder."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

plt.rcParams.update({"font.size": 13, "axes.titlesize": 14, "savefig.dpi": 110, "figure.constrained_layout.use": True})
UNIT = {"origin": "lower", "extent": (0, 1, 0, 1)}


def _unit_square(axes, title):
    axes.set(title=title, xlabel="x", ylabel="y", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1], aspect="equal",
             xlim=(0, 1), ylim=(0, 1))


def _bar(figure, field, axes, label, **more):
    figure.colorbar(field, ax=axes, **more).ax.set_title(label, pad=8)


def solution_and_residuals(values, history, title, file):
    """A signed solution on the unit square, beside the residual norms of the iteration."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6))
    largest = np.ceil(abs(values).max())
    field = left.imshow(values, cmap="RdBu_r", vmin=-largest, vmax=largest, **UNIT)
    _bar(figure, field, left, "u", ticks=np.linspace(-largest, largest, 5))
    _unit_square(left, "−Δu = f")
    right.semilogy(history, "o-", lw=2, color="tab:red")
    right.set(title=title, xlabel="iteration", ylabel="‖b − Au‖ / ‖b‖")
    right.xaxis.get_major_locator().set_params(integer=True)
    right.grid(alpha=0.3)
    figure.savefig(file)


def coefficient_and_flux(values, kappa, file):
    """A coefficient, beside the solution with lines of the flux -kappa grad u."""
    n = values.shape[0]
    at = np.arange(1, n + 1) / (n + 1)
    x, y = np.meshgrid(at, at)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.4, 4.6))
    field = left.imshow(kappa(x, y), cmap="cividis", norm=matplotlib.colors.LogNorm(0.1, 10), **UNIT)
    _bar(figure, field, left, "κ")
    _unit_square(left, "coefficient κ")
    field = right.imshow(values, cmap="magma", vmin=0, vmax=1, **UNIT)
    _bar(figure, field, right, "u")
    dy, dx = np.gradient(values, 1 / (n + 1))
    right.streamplot(at, at, -kappa(x, y) * dx, -kappa(x, y) * dy, color="white", linewidth=0.8, density=0.9,
                     arrowsize=0.9)
    _unit_square(right, "u, with lines of the flux −κ∇u")
    figure.savefig(file)


def interpolant(x, values, error, file):
    """Scattered points and their interpolant, beside its error."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.6, 4.6))
    field = left.imshow(values, cmap="viridis", **UNIT)
    _bar(figure, field, left, "s(x)")
    left.plot(x[:, 0], x[:, 1], "w.", ms=3, alpha=0.8)
    _unit_square(left, f"interpolant through {len(x)} points")
    field = right.imshow(abs(error) + 1e-9, cmap="magma", norm=matplotlib.colors.LogNorm(1e-6, 1e-2), **UNIT)
    _bar(figure, field, right, "|s − f|", extend="both")
    _unit_square(right, "error")
    figure.savefig(file)


def profiles(x, times, states, exact, file):
    """Profiles at some times with the exact ones, beside the plane of space and time."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.4, 4.6))
    shown = np.linspace(0, len(times) - 1, 5).astype(int)
    colors = plt.get_cmap("viridis")(np.linspace(0, 0.85, len(shown)))
    for k, color in zip(shown, colors):
        left.plot(x, states[k], color=color, lw=2)
        left.plot(x, exact(x, times[k]), color="0.3", lw=1, ls="--")
        front = np.flatnonzero(states[k] > 0.5 * states[k].max())[-1]
        left.annotate(f"t = {times[k]:.2g}", (x[front], states[k].max()), xytext=(0, 5), textcoords="offset points",
                      color=color, ha="right" if x[front] > 0.9 else "center")
    left.set(xlabel="x", ylabel="u", title="u at five times (dashed: exact)", xlim=(0, 1), ylim=(-0.03, 1.1),
             yticks=np.linspace(0, 1, 6))
    field = right.imshow(np.array(states), cmap="magma_r", origin="lower", aspect="auto", interpolation="bilinear",
                         extent=(0, 1, times[0], times[-1]))
    _bar(figure, field, right, "u")
    right.set(xlabel="x", ylabel="t", title="shock, caught up by a rarefaction wave")
    figure.savefig(file)


def patterns(values, times, axes, file):
    """Patterns at two times over the plane of two constants, k and F."""
    figure, both = plt.subplots(1, 2, figsize=(12, 5.2), sharey=True)
    extent = (axes[0].min(), axes[0].max(), axes[1].min(), axes[1].max())
    for panel, v, time in zip(both, values, times):
        field = panel.imshow(v, cmap="inferno", origin="lower", extent=extent, aspect="auto", vmin=0, vmax=0.4)
        panel.set(title=f"v at t = {time:g}", xlabel="k", xticks=np.linspace(*extent[:2], 4))
    both[0].set(ylabel="F")
    _bar(figure, field, both[1], "v")
    figure.savefig(file)
