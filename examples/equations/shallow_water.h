// Shallow water of depth h and discharges (p, q), periodic, with a little viscosity; central differences
grid(2)
unknowns(h, p, q)
periodic(x, y)
parameter(g, 1)
parameter(nu, 0.02)
p_squared(i) = p(i, 0) * p(i, 0) / h(i, 0) + g / 2 * h(i, 0) * h(i, 0)
q_squared(j) = q(0, j) * q(0, j) / h(0, j) + g / 2 * h(0, j) * h(0, j)
p_q_x(i) = p(i, 0) * q(i, 0) / h(i, 0)
p_q_y(j) = p(0, j) * q(0, j) / h(0, j)
rate(h) = -dx(p) - dy(q)
rate(p) = -(p_squared(1) - p_squared(-1)) / (2 * hx) - (p_q_y(1) - p_q_y(-1)) / (2 * hy) + nu * laplacian(p)
rate(q) = -(p_q_x(1) - p_q_x(-1)) / (2 * hx) - (q_squared(1) - q_squared(-1)) / (2 * hy) + nu * laplacian(q)
exact(h) = 2 + sin(2 * pi * (x + y) - t) / 4
exact(p) = cos(2 * pi * x) / 4
exact(q) = sin(2 * pi * (y - x) + t) / 4
