// Cahn and Hilliard's equation (1958): two phases separate; u is -1 in one and 1 in the other. -ts_max_time 0.01
grid(2)
unknowns(u, mu)
neumann(sides)
parameter(eps, 0.02) // the layers between them are some 3 eps wide
initial(u) = 0.1 * sin(20 * x + 3 * sin(7 * y)) * sin(17 * y + 2 * sin(9 * x))
rate(u) = laplacian(mu)
residual(mu) = mu - (u^3 - u - eps^2 * laplacian(u))
