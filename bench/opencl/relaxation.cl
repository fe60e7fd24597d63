kernel void relaxation(int n, global const float *restrict in, global float *restrict out) {
  int i = get_global_id(0);
  if (i > 0 && i < n - 1) out[i] = 0.5f * (in[i - 1] + in[i + 1]);
}
