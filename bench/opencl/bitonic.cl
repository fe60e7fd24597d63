kernel void bitonic(int pairs, int run, int distance, global int *restrict keys) {
  int t = get_global_id(0);
  if (t >= pairs) return;
  int low = 2 * t - (t & (distance - 1)), high = low + distance;
  int a = keys[low], b = keys[high];
  if ((a > b) == ((low & run) == 0)) {
    keys[low] = b;
    keys[high] = a;
  }
}
