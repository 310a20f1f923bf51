// The price of a call option (F. Black, M. Scholes, 1973) by the price x of the share, and the time t until it ends. At the
// strike price 100 and t = 1 it is 10.4506. -ts_type cn -ts_dt 0.01 -ts_max_time 1
grid(1)
domain(0, 400)
parameter(strike, 100)
parameter(interest, 0.05)
parameter(volatility, 0.2)
identity(left)
identity(right) = x - strike * exp(-interest * t)
initial = max(x - strike, 0)
rate = volatility^2 / 2 * x^2 * dxx(u) + interest * (x * dx(u) - u)
