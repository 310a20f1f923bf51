// Allen and Cahn's equation (1979) in 3-D: du/dt = ε²Δu + u - u³, insulated; a source for the exact solution
grid(3)
parameter(epsilon, 0.3)
neumann(sides)
rate = epsilon * epsilon * laplacian(u) + u - u * u * u
exact = cos(pi * x) * cos(pi * y) * cos(pi * z) * exp(-t)
