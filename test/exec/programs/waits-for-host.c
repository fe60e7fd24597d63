// A kernel waits for a flag of the host, which calls CUDA before it sets it: it asks for the stream and an event, and
// copies in another stream. Prints what they return (600 is cudaErrorNotReady), what was copied, and the kernel's word.
#include <dlfcn.h>
#include <stdio.h>

static const char *ptx =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry waits(.param .u64 flag, .param .u64 out) {\n"
    "  .reg .u32 %r; .reg .pred p; .reg .u64 %f, %d;\n"
    "  ld.param.u64 %f, [flag]; ld.param.u64 %d, [out];\n"
    "again: ld.volatile.global.u32 %r, [%f]; setp.eq.u32 p, %r, 0; @p bra again;\n"
    "  add.u32 %r, %r, 1; st.global.u32 [%d], %r; ret; }\n";

typedef int function();
static void *driver;
static function *of(const char *name) { return (function *)dlsym(driver, name); }

int main(void) {
  void *context, *module, *kernel, *waiting, *other, *event;
  volatile unsigned *flag;
  unsigned long long on_device, out, copied;
  void *arguments[] = {&on_device, &out};
  unsigned sent[4] = {1, 2, 3, 4}, received[4] = {0}, word = 0;
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  of("cuInit")(0);
  of("cuDevicePrimaryCtxRetain")(&context, 0);
  of("cuCtxSetCurrent")(context);
  of("cuModuleLoadData")(&module, ptx);
  of("cuModuleGetFunction")(&kernel, module, "waits");
  of("cuMemHostAlloc")(&flag, 4L, 2);
  *flag = 0;
  of("cuMemHostGetDevicePointer_v2")(&on_device, flag, 0);
  of("cuMemAlloc_v2")(&out, 4L);
  of("cuMemAlloc_v2")(&copied, sizeof sent);
  of("cuStreamCreate")(&waiting, 1);
  of("cuStreamCreate")(&other, 1);
  of("cuEventCreate")(&event, 0);
  of("cuLaunchKernel")(kernel, 1, 1, 1, 32, 1, 1, 0, waiting, arguments, 0L);
  of("cuEventRecord")(event, waiting);
  printf("%d ", of("cuStreamQuery")(waiting));
  printf("%d ", of("cuEventQuery")(event));
  of("cuMemcpyHtoDAsync_v2")(copied, sent, sizeof sent, other);
  of("cuMemcpyDtoHAsync_v2")(received, copied, sizeof received, other);
  printf("%d ", of("cuStreamSynchronize")(other));
  printf("%u\n", received[3]);
  *flag = 41;
  printf("%d ", of("cuStreamSynchronize")(waiting));
  printf("%d ", of("cuMemcpyDtoH_v2")(&word, out, 4L));
  printf("%u\n", word);
  of("cuMemFree_v2")(out);
  of("cuMemFree_v2")(copied);
  of("cuMemFreeHost")(flag);
}
