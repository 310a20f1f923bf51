// Bratu's equation: -Δu = λ exp(u), u = 0 on the boundary, where the grid has points
grid(2)
parameter(lambda, 6)
identity(sides) = 0
residual = -laplacian(u) - lambda * exp(u)
initial = lambda / (lambda + 1) * sqrt(min(min(x, 1 - x), min(y, 1 - y)))
