// Images in OpenCL C: what test/images/visa.test.ts runs, compiled for several platforms.
__constant sampler_t near = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__constant sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
__constant sampler_t wrap = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
__constant sampler_t mirror = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;
__constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

kernel void copy(read_only image2d_t a, write_only image2d_t b) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(b, p, read_imagef(a, near, p));
}

kernel void integers(read_only image2d_t a, write_only image2d_t b) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  if (p.x < get_image_width(a) && p.y < get_image_height(a)) write_imageui(b, p, read_imageui(a, p) + 1);
}

kernel void shifted(read_only image2d_t a, global float4 *o) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  o[p.y * get_global_size(0) + p.x] = read_imagef(a, border, p + (int2)(-3, 2));
}

kernel void wrapped(read_only image2d_t a, global float4 *o, float s, float c) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  o[p.y * get_global_size(0) + p.x] = read_imagef(a, wrap, (float2)(p.x * c - p.y * s, p.x * s + p.y * c));
}

kernel void mirrored(read_only image2d_t a, global float4 *o, float s) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  o[p.y * get_global_size(0) + p.x] = read_imagef(a, mirror, (float2)(p.x * s - 1, p.y * s - 1));
}

kernel void given(read_only image2d_t a, sampler_t t, global float4 *o) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  o[p.y * get_global_size(0) + p.x] = read_imagef(a, t, (float2)(p.x + 0.5f, p.y + 0.25f));
}

kernel void twice(read_write image2d_t a) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(a, p, 2 * read_imagef(a, p));
}

kernel void volume(read_only image3d_t a, write_only image2d_array_t b) {
  int4 p = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
  write_imagef(b, p, read_imagef(a, edge, convert_float4(p) + 0.75f));
}

kernel void layers(read_only image2d_array_t a, write_only image3d_t b) {
  int4 p = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
  write_imagei(b, p, read_imagei(a, near, p));
}

kernel void rows(read_only image1d_array_t a, write_only image1d_t b, int layer) {
  int p = get_global_id(0);
  write_imagei(b, p, read_imagei(a, near, (int2)(p, layer)));
}

kernel void elements(read_only image1d_buffer_t a, global int4 *b) {
  int p = get_global_id(0);
  b[p] = read_imagei(a, p);
}

kernel void sizes(read_only image3d_t a, read_only image2d_array_t b, global int *o) {
  o[0] = get_image_width(a);
  o[1] = get_image_height(a);
  o[2] = get_image_depth(a);
  o[3] = get_image_channel_data_type(a);
  o[4] = get_image_channel_order(a);
  o[5] = get_image_array_size(b);
}

kernel void blur(read_only image2d_t a, write_only image2d_t b) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  float4 sum = 0;
  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++) sum += read_imagef(a, near, p + (int2)(x, y));
  write_imagef(b, p, sum / 9);
}
