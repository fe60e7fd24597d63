kernel void life(int n, global const uchar *restrict from, global uchar *restrict to) {
  int x = get_global_id(0), y = get_global_id(1);
  int left = (x + n - 1) % n, right = (x + 1) % n, up = (y + n - 1) % n, down = (y + 1) % n;
  int neighbours = from[up * n + left] + from[up * n + x] + from[up * n + right] + from[y * n + left] +
                   from[y * n + right] + from[down * n + left] + from[down * n + x] + from[down * n + right];
  to[y * n + x] = neighbours == 3 || (neighbours == 2 && from[y * n + x]);
}
