// The kink of the sine-Gordon equation, which moves at half the speed of light (J. K. Perring, T. H. R. Skyrme, 1962).
// -ts_max_time 4
grid(1)
domain(-12, 12)
exact = 4 * atan(exp((x - t / 2) / sqrt(3 / 4)))
rate2 = dxx(u) - sin(u)
