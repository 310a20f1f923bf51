// Gas of density r, momentum (m, n) and energy e in two dimensions: four states that meet in a corner, whose shocks make
// a jet (C. W. Schulz-Rinne, J. P. Collins, H. M. Glaz, 1993, configuration 3). -ts_type ssp -ts_max_time 0.8
grid(2, star, 2)
unknowns(r, m, n, e)
neumann(sides)
parameter(gamma, 1.4)
v = m / r
w = n / r
p = (gamma - 1) * (e - (m * v + n * w) / 2)
c = sqrt(gamma * p / r)
rate(r) = -vanleer_x(m, abs(v) + c, r) - vanleer_y(n, abs(w) + c, r)
rate(m) = -vanleer_x(m * v + p, abs(v) + c, m) - vanleer_y(m * w, abs(w) + c, m)
rate(n) = -vanleer_x(n * v, abs(v) + c, n) - vanleer_y(n * w + p, abs(w) + c, n)
rate(e) = -vanleer_x(v * (e + p), abs(v) + c, e) - vanleer_y(w * (e + p), abs(w) + c, e)
initial(r) = x > 0.8 ? (y > 0.8 ? 1.5 : 0.5323) : (y > 0.8 ? 0.5323 : 0.138)
initial(m) = x > 0.8 ? 0 * x : 1.206 * (y > 0.8 ? 0.5323 : 0.138)
initial(n) = y > 0.8 ? 0 * x : 1.206 * (x > 0.8 ? 0.5323 : 0.138)
initial(e) = x > 0.8 ? (y > 0.8 ? 3.75 : 0.75 + 0.5323 * 1.206^2 / 2)
                     : (y > 0.8 ? 0.75 + 0.5323 * 1.206^2 / 2 : 0.0725 + 0.138 * 1.206^2)
