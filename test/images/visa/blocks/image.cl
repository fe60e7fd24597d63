__attribute__((intel_reqd_sub_group_size(16)))
kernel void block_copy(read_only image2d_t a, write_only image2d_t b, int x, int y) {
  int2 p = (int2)(x + 64 * get_group_id(0), y + 4 * get_group_id(1));
  uint4 v = intel_sub_group_block_read4(a, p);
  intel_sub_group_block_write4(b, p, v);
}
__attribute__((intel_reqd_sub_group_size(8)))
kernel void block_bytes(read_only image2d_t a, global uchar *o, int x, int y) {
  uchar4 v = intel_sub_group_block_read_uc4(a, (int2)(x, y));
  vstore4(v, get_local_id(0), o);
}
