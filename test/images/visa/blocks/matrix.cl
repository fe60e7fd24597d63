ushort8  __builtin_IB_subgroup_block_read_flat_u16_m8k16v1(long baseoffset, int width_minus_one, int height_minus_one, int pitch_minus_one, int2 coord);
ushort16  __builtin_IB_subgroup_block_read_flat_u16_m8k16v2(long baseoffset, int width_minus_one, int height_minus_one, int pitch_minus_one, int2 coord);
uint8 __builtin_IB_subgroup_block_read_flat_transform_u16_k16(long baseoffset, int width_minus_one, int height_minus_one, int pitch_minus_one, int2 coord);
uint8 __builtin_IB_subgroup_block_read_flat_transpose_u32_k8(long baseoffset, int width_minus_one, int height_minus_one, int pitch_minus_one, int2 coord);
__attribute__((intel_reqd_sub_group_size(16)))
kernel void pair(global ushort *a, global ushort *o, int w, int h, int p, int x, int y) {
  ushort16 v = __builtin_IB_subgroup_block_read_flat_u16_m8k16v2((long)a, w - 1, h - 1, p - 1, (int2)(x, y));
  for (int i = 0; i < 16; i++) o[i * 16 + get_local_id(0)] = v[i];
}
__attribute__((intel_reqd_sub_group_size(16)))
kernel void packed(global ushort *a, global uint *o, int w, int h, int p, int x, int y) {
  uint8 v = __builtin_IB_subgroup_block_read_flat_transform_u16_k16((long)a, w - 1, h - 1, p - 1, (int2)(x, y));
  for (int i = 0; i < 8; i++) o[i * 16 + get_local_id(0)] = v[i];
}
__attribute__((intel_reqd_sub_group_size(16)))
kernel void turned(global uint *a, global uint *o, int w, int h, int p, int x, int y) {
  uint8 v = __builtin_IB_subgroup_block_read_flat_transpose_u32_k8((long)a, w - 1, h - 1, p - 1, (int2)(x, y));
  for (int i = 0; i < 8; i++) o[i * 16 + get_local_id(0)] = v[i];
}
