// Waves from the left through two slits of a wall, behind which they interfere. They leave through layers that damp them.
// 300 x 300 points, -ts_type rk -ts_dt 2e-3 -ts_max_time 1.2
grid(2)
parameter(omega, 25*pi)
solid = abs(x - 0.3) < 0.01 && abs(abs(y - 0.5) - 0.1) > 0.03
dirichlet(left) = sin(omega * t)
neumann(bottom)
neumann(top)
layer(d) = max(0.15 - d, 0)^2
damping = x > 0.4 ? 4000 * (layer(1 - x) + layer(y) + layer(1 - y)) : 0
rate2 = laplacian(u) - damping * u_t
