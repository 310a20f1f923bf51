// Gray and Scott's reaction and diffusion of two substances (Pearson 1993), periodic
grid(2)
unknowns(u, v)
periodic(x, y)
domain(0, 2.5, 0, 2.5)
parameter(Du, 8e-5)
parameter(Dv, 4e-5)
parameter(F, 0.024)
parameter(k, 0.06)
rate(u) = Du * laplacian(u) - u * v * v + F * (1 - u)
rate(v) = Dv * laplacian(v) + u * v * v - (F + k) * v
// a patch in the middle
patch = fabs(x - 1.25) < 0.25 && fabs(y - 1.25) < 0.25 ? pow(sin(4 * pi * x) * sin(4 * pi * y), 2) / 4 : 0
initial(u) = 1 - 2 * patch
initial(v) = patch
