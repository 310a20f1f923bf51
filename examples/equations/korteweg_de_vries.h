// Waves in shallow water (D. J. Korteweg, G. de Vries, 1895): a soliton of height 2, which keeps its shape at the speed 4.
// -ts_type cn -ts_dt 0.01 -ts_max_time 1
grid(1, star, 2)
domain(-10, 15)
exact = 2 / cosh(x - 4 * t)^2
rate = -3 * dx(u^2) - dx(dxx(u))
