#define BINS 256
kernel void histogram(int words, global const uint *restrict in, global uint *restrict counts) {
  local uint part[BINS];
  int t = get_local_id(0), threads = get_local_size(0);
  for (int i = t; i < BINS; i += threads) part[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < words; i += get_global_size(0)) {
    uint word = in[i];
    atomic_inc(&part[word & 255]);
    atomic_inc(&part[word >> 8 & 255]);
    atomic_inc(&part[word >> 16 & 255]);
    atomic_inc(&part[word >> 24]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = t; i < BINS; i += threads) atomic_add(&counts[i], part[i]);
}
