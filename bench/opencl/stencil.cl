kernel void stencil(int n, global const float *restrict in, global float *restrict out) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= n || y >= n) return;
  int i = y * n + x;
  float centre = in[i];
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
    centre = 0.5f * centre + 0.125f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
  out[i] = centre;
}
