kernel void ring_filter(int n, global const float *restrict x, global const float *restrict taps,
                        global float *restrict y) {
  int i = get_global_id(0);
  float sum = 0.0f;
  for (int k = 0; k < 16; ++k) sum += taps[k] * x[(i - k) & (n - 1)];
  y[i] = sum;
}
