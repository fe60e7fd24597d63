static float normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  float tail = 0.39894228040f * exp(-0.5f * d * d) *
               (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - tail : tail;
}
kernel void blackscholes(int n, float rate, float volatility, global const float *restrict price,
                         global const float *restrict strike, global const float *restrict years,
                         global float *restrict call, global float *restrict put) {
  int i = get_global_id(0);
  if (i >= n) return;
  float s = price[i], x = strike[i], t = years[i];
  float spread = volatility * sqrt(t);
  float d1 = (log(s / x) + (rate + 0.5f * volatility * volatility) * t) / spread;
  float d2 = d1 - spread;
  float n1 = normal(d1), n2 = normal(d2), discounted = x * exp(-rate * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}
