// A simply supported plate: Δ²u = f, u = Δu = 0 on the boundary
grid(2, box, 2)
residual = bilaplacian(u)
exact = sin(pi * x) * sin(2 * pi * y)
