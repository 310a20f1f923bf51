// Diffusion in a material of two parts: -∇·(k ∇u) = 1, where k jumps by `contrast`
grid(2)
parameter(contrast, 1000)
field(k) = fabs(x - 0.5) < 0.25 && fabs(y - 0.5) < 0.25 ? contrast : 1
neumann(bottom) = 0
neumann(top) = 0
residual = -d(k, u) - 1
