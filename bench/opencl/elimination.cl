kernel void multipliers(int n, int column, global const float *restrict a, global float *restrict m) {
  int i = get_global_id(0);
  if (i >= n - 1 - column) return;
  m[i + column + 1] = a[(i + column + 1) * n + column] / a[column * n + column];
}
kernel void eliminate(int n, int column, global float *restrict a, global const float *restrict m) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= n - column || y >= n - 1 - column) return;
  a[(y + column + 1) * n + x + column] -= m[y + column + 1] * a[column * n + x + column];
}
