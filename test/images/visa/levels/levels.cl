// Levels of detail, chosen by a number and by gradients (cl_khr_mipmap_image).
kernel void level(read_only image2d_t image, sampler_t sampler, global float4* out, float lod) {
  int i = get_global_id(0);
  out[2 * i] = read_imagef(image, sampler, (float2)(i / 16.0f, 0.5f), lod);
  out[2 * i + 1] = (float4)(get_image_num_mip_levels(image), get_image_width(image), 0, 0);
}

kernel void gradient(read_only image2d_t image, sampler_t sampler, global float4* out, float g) {
  int i = get_global_id(0);
  out[2 * i] = read_imagef(image, sampler, (float2)(i / 16.0f, 0.5f), (float2)(g, 0), (float2)(0, g));
}
