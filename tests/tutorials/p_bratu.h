// PETSc's snes/ex15: -∇·(η ∇u) - λ exp(u) = f with η = (ε² + |∇u|²/2)^((p-2)/2) on the faces between points
grid(2, box)
parameter(p, 2)
parameter(epsilon, 1e-5)
parameter(lambda, 0)
parameter(source, 0.1)
identity(sides) = 0
right(i) = (u(i + 1, 0) - u(i, 0)) / hx
upper(j) = (u(0, j + 1) - u(0, j)) / hy
right_y(i) = (u(i, 1) + u(i + 1, 1) - u(i, -1) - u(i + 1, -1)) / (4 * hy)
upper_x(j) = (u(1, j) + u(1, j + 1) - u(-1, j) - u(-1, j + 1)) / (4 * hx)
flux_x(i) = pow(epsilon * epsilon + (pow(right(i), 2) + pow(right_y(i), 2)) / 2, (p - 2) / 2) * right(i)
flux_y(j) = pow(epsilon * epsilon + (pow(upper(j), 2) + pow(upper_x(j), 2)) / 2, (p - 2) / 2) * upper(j)
residual = -(flux_x(0) - flux_x(-1)) / hx - (flux_y(0) - flux_y(-1)) / hy - lambda * exp(u) - source
shape = (1 - pow(2 * x - 1, 2)) * (1 - pow(2 * y - 1, 2)) * (2 * x - 1) * (2 * y - 1)
initial = lambda > 0 ? lambda / (lambda + 1) * sqrt(max(min(min(x, 1 - x), min(y, 1 - y)), 0)) : shape
