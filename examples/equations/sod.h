// Sod's shock tube: gas of density r, momentum m and energy e, whose membrane at x = 1/2 bursts (G. A. Sod, 1978). At
// t = 0.2 the shock is at 0.850, the gas that was at the membrane at 0.685, and the pressure between them is 0.30313.
// -ts_type ssp -ts_max_time 0.2
grid(1, star, 2)
unknowns(r, m, e)
neumann(sides)
parameter(gamma, 1.4)
v = m / r
p = (gamma - 1) * (e - m * v / 2)
s = abs(v) + sqrt(gamma * p / r) // of the fastest wave
rate(r) = -minmod_x(m, s, r)
rate(m) = -minmod_x(m * v + p, s, m)
rate(e) = -minmod_x(v * (e + p), s, e)
initial(r) = x < 0.5 ? 1 : 0.125
initial(e) = x < 0.5 ? 2.5 : 0.25
