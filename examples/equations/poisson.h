// Poisson's equation: -Δu = f, with f such that u = sin(πx) sin(2πy) exp(xy)
grid(2)
residual = -laplacian(u)
exact = sin(pi * x) * sin(2 * pi * y) * exp(x * y) + x
