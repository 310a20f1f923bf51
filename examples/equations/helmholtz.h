// Helmholtz's equation with damping, -Δu - k²(1 + iδ)u = f; needs a PETSc with complex numbers
grid(2)
parameter(k, 10)
parameter(delta, 0.1)
residual = -laplacian(u) - k * k * (1 + I * delta) * u
exact = exp(I * k * x) * sin(y) + x
