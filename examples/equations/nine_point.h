// Poisson's equation by nine points of equal spacings, -Δu = f
grid(2, box)
residual = (20 * u - 4 * (u(1, 0) + u(-1, 0) + u(0, 1) + u(0, -1))
            - u(1, 1) - u(-1, 1) - u(1, -1) - u(-1, -1)) / (6 * hx * hx)
exact = cos(3 * x) * exp(y)
