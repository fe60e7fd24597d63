kernel void copy(int n, global const double *restrict a, global double *restrict c) {
  int i = get_global_id(0);
  if (i < n) c[i] = a[i];
}
