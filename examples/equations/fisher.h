// The advance of a gene (R. A. Fisher, 1937): a front of the speed 5/sqrt(6) (M. J. Ablowitz, A. Zeppetella, 1979).
// -ts_max_time 2
grid(1)
domain(-20, 20)
dirichlet(sides)
exact = (1 + exp((x - 5 * t / sqrt(6)) / sqrt(6)))^-2
rate = dxx(u) + u * (1 - u)
