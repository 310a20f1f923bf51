#pragma once
// The numerical fluxes, in the order of TSBurgersFlux. A new flux is a source with its formula, as godunov.cpp, a line
// here, and its name in the public enumeration.

#define SHELLAC_BURGERS_FLUXES(each)                                                                                   \
  each(central) each(lax_friedrichs) each(rusanov) each(godunov) each(engquist_osher) each(central_doubled)
