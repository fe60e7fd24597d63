kernel void triad(int n, double q, global const double *restrict b, global const double *restrict c,
                  global double *restrict a) {
  int i = get_global_id(0);
  if (i < n) a[i] = b[i] + q * c[i];
}
