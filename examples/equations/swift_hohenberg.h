// Convection near its onset (J. Swift, P. C. Hohenberg, 1977): rolls of the amplitude 2 sqrt(r/3).
// -ts_type beuler -ts_dt 1 -ts_max_time 200
grid(1, star, 2)
domain(0, 8*pi)
periodic(x)
parameter(r, 0.1)
initial = 0.1 * cos(x)
rate = r * u - u - 2 * dxx(u) - bilaplacian(u) - u^3
