// Plane elasticity: -μΔu - (λ + μ)∇(∇·u) = f, displacements (u, v) given on the boundary
grid(2, box)
unknowns(u, v)
parameter(mu, 1)
parameter(lambda, 2)
residual(u) = -mu * laplacian(u) - (lambda + mu) * (dxx(u) + dxy(v))
residual(v) = -mu * laplacian(v) - (lambda + mu) * (dxy(u) + dyy(v))
exact(u) = sin(2 * x) * cos(y)
exact(v) = x * x * exp(-y)
