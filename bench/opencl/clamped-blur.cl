kernel void clamped_blur(int n, global const float *restrict in, global float *restrict out) {
  int x = get_global_id(0), y = get_global_id(1);
  float sum = 0.0f;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx) sum += in[clamp(y + dy, 0, n - 1) * n + clamp(x + dx, 0, n - 1)];
  out[y * n + x] = sum * (1.0f / 25.0f);
}
