// The kink of the sine-Gordon equation, which moves at half the speed of light: u, and v = du/dt (J. K. Perring,
// T. H. R. Skyrme, 1962). -ts_max_time 4
grid(1)
domain(-12, 12)
unknowns(u, v)
k = (x - t / 2) / sqrt(3 / 4)
exact(u) = 4 * atan(exp(k))
exact(v) = -1 / (sqrt(3 / 4) * cosh(k))
rate(u) = v
rate(v) = dxx(u) - sin(u)
