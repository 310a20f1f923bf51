// The p-Laplacian: -∇·(|∇u|^(p-2) ∇u) = f, with the gradient on the faces between points
grid(2, box)
parameter(p, 3)
// |∇u|² on the face to the right, and on the upper one; i, j: which point's
right_squared(i) = pow((u(i + 1, 0) - u(i, 0)) / step_x(i), 2)
    + pow((u(i, 1) + u(i + 1, 1) - u(i, -1) - u(i + 1, -1)) / (4 * hy), 2)
upper_squared(j) = pow((u(0, j + 1) - u(0, j)) / step_y(j), 2)
    + pow((u(1, j) + u(1, j + 1) - u(-1, j) - u(-1, j + 1)) / (4 * hx), 2)
flux_x(i) = pow(right_squared(i) + 1e-6, (p - 2) / 2) * (u(i + 1, 0) - u(i, 0)) / step_x(i)
flux_y(j) = pow(upper_squared(j) + 1e-6, (p - 2) / 2) * (u(0, j + 1) - u(0, j)) / step_y(j)
residual = -(flux_x(0) - flux_x(-1)) / hx - (flux_y(0) - flux_y(-1)) / hy
exact = exp(x) * (1 + y) + x * y * y
