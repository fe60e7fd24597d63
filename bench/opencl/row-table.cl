kernel void row_table(int n, global const int *restrict which, global const int *restrict at,
                      global const float *restrict a, global const float *restrict b, global const float *restrict c,
                      global const float *restrict d, global float *restrict out) {
  int i = get_global_id(0);
  if (i >= n) return;
  global const float *rows[4] = {a, b, c, d};
  float product = 1.0f;
  for (int k = 0; k < 4; ++k) {
    int j = 4 * i + k;
    product *= rows[which[j]][at[j]];
  }
  out[i] = product;
}
