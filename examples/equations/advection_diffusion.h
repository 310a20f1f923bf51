// Advection and diffusion: -νΔu + w·∇u = f, with a rotating velocity w
grid(2)
parameter(nu, 0.05)
wx = 1 - 2 * y
wy = 2 * x - 1
robin(right, 1)
neumann(top)
neumann(bottom)
robin(left, 2)
residual = -nu * laplacian(u) + wx * dx(u) + wy * dy(u)
exact = sin(2 * x + y) * cos(y)
