"""The preconditioner stencilmg, and Burgers' equation for a TS."""

import ctypes
import re

from . import functions as c


def stencilmg(pc, **settings):
    """Makes a preconditioner the matrix-free multigrid 'stencilmg'.

    Parameters
    ----------
    pc : PETSc.PC or PETSc.KSP
        The preconditioner, or the solver that has it. Its matrix is of a type of Shellac's on a DMDA:
        'laplace', 'helmholtz', 'diffusion', 'advection_diffusion', 'stencil' or a formula's.
    **settings
        Options of the type without ``-pc_stencilmg_``: ``smooths=2``, ``cycle_type='w'``, ``levels=4``,
        ``type='full'``, ``precision='single'`` and so on; the manual's page on options lists them. An option that the
        user gives on the command line wins.

    Returns
    -------
    PETSc.PC
    """
    from petsc4py import PETSc
    if isinstance(pc, PETSc.KSP):
        pc = pc.getPC()
    c.handle(pc, "PC", "shellac.stencilmg(): pc")
    allowed = sorted(set(re.findall(r"-pc_stencilmg_(\w+)", c.text())))
    unknown = [key for key in settings if key not in allowed]
    c.agree(pc.comm, TypeError(f"shellac.stencilmg() got an unexpected keyword argument {unknown[0]!r}; use one of "
                               + ", ".join(allowed)) if unknown else None,
            **{"the keyword arguments of shellac.stencilmg()": repr(sorted(settings.items()))})
    c.ready_type(pc, "stencilmg")
    with c.temporary_options((pc.getOptionsPrefix() or "") + "pc_stencilmg_", settings):
        pc.setFromOptions()
    if pc.getType() != "stencilmg":
        raise ValueError(f"shellac.stencilmg(): the option -{pc.getOptionsPrefix() or ''}pc_type makes the "
                         f"preconditioner one of type {pc.getType()}; leave it out, or do not call this function then")
    return pc


@c.named_keywords
def burgers(ts, *, flux=None, reconstruct=None, bc=None, inflow=None, viscosity=None, lengths=None,
            fused_scheme=None, fused_steps=None, speed=None, check_interval=None, jacobian=None, halo=None):
    """Makes Burgers' equation u_t + (u**2/2)_x = nu u_xx the equation of a TS, in 1-D or as a system in 2-D.

    Unknowns are averages over cells. ``help(shellac.TSSetBurgers)`` has the equations and what is checked.

    Parameters
    ----------
    ts : PETSc.TS
        With a DMDA: 1-D with 1 unknown a cell, or 2-D with 2.
    flux : {'godunov', 'central', 'lax_friedrichs', 'rusanov', 'engquist_osher', 'central_doubled'}, optional
        The numerical flux.
    reconstruct : {'constant', 'minmod', 'vanleer', 'weno5'}, optional
        The values at the faces of the cells.
    bc : {'periodic', 'outflow', 'inflow', 'frozen'}, optional
        The ends of the domain; 'periodic' for a periodic DMDA and 'outflow' for another by default.
    inflow : sequence of float, shape (2,) in 1-D and (4,) in 2-D, optional
        For 'inflow': u beyond the lower and the upper end [length/time]; in 2-D u, u, v, v.
    viscosity : float, optional
        nu [length**2/time], 0 by default.
    lengths : sequence of float, shape (dim,), optional
        Side lengths of the domain [length].
    fused_scheme : {'euler', 'ssprk2', 'ssprk3'}, optional
        Makes the TS one of type 'burgersfused' with this scheme: many explicit steps in a pass over memory;
        'ssprk3' with weno5, else 'euler' by default.
    fused_steps : int, optional
        Likewise; the most steps from one step of the TS to the next, 256 by default.
    speed, check_interval, jacobian, halo : optional
        The options ``-burgers_speed``, ``-burgers_check_interval``, ``-burgers_jacobian`` and ``-burgers_halo``.

    Returns
    -------
    PETSc.TS
        `ts`. ``ts.setFromOptions()`` afterwards lets the options of the command line override these arguments.
    """
    what = "shellac.burgers()"
    address = c.handle(ts, "TS", f"{what}: ts")
    problem, calls, kept = None, [], []
    try:
        for kind, value, name in (("TSBurgersFlux", flux, "flux"),
                                  ("TSBurgersReconstruction", reconstruct, "reconstruct"),
                                  ("TSBurgersBoundary", bc, "bc")):
            if value is not None:
                number = c.value_of(kind, value, f"{what}: {name}")
                calls.append((kind.replace("TSBurgers", "TSBurgersSet"), ctypes.c_int(number)))
        for array, name in ((inflow, "Inflow"), (lengths, "Lengths")):
            if array is not None:
                kept.append(c.reals(array, f"{what}: {name.lower()}"))
                calls.append(("TSBurgersSet" + name, c.int_type()(len(kept[-1])),
                              kept[-1].ctypes.data_as(ctypes.c_void_p)))
        if viscosity is not None:
            calls.append(("TSBurgersSetViscosity", c.number(viscosity, "PetscReal", f"{what}: viscosity")))
        if fused_scheme is not None:
            c.value_of("TSBurgersScheme", fused_scheme, f"{what}: fused_scheme")
        if fused_steps is not None:
            fused_steps = c.number(fused_steps, "PetscInt", f"{what}: fused_steps").value
    except (TypeError, ValueError) as error:
        problem = error
    more = {"speed": speed, "check_interval": check_interval, "jacobian": jacobian, "halo": halo,
            "fused_scheme": fused_scheme, "fused_steps": fused_steps}
    c.agree(ts.comm, problem, **{f"the keyword arguments of {what}": repr((more, [name for name, *_ in calls]))})
    with c.temporary_options((ts.getOptionsPrefix() or "") + "burgers_", more):
        c.call("TSSetBurgers", address)
    for name, *arguments in calls:
        c.call(name, address, *arguments)
    if fused_scheme is not None or fused_steps is not None:
        ts.setType("burgersfused")
    return ts
