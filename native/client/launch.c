/* Registration and launches, as code that nvcc makes calls them. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "local.h"

/* The most bytes that parameters of a kernel have. */
enum { max_parameters = 32764 + 4 };

static int fits(const struct lw_kernel *kernel, const struct lw_launch *launch) {
  uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
  return launch->grid[0] >= 1 && launch->grid[0] <= 0x7fffffff && launch->grid[1] >= 1 && launch->grid[1] <= 65535 &&
         launch->grid[2] >= 1 && launch->grid[2] <= 65535 && launch->block[0] >= 1 && launch->block[0] <= 1024 &&
         launch->block[1] >= 1 && launch->block[1] <= 1024 && launch->block[2] >= 1 && launch->block[2] <= 64 &&
         threads <= kernel->max_threads && launch->shared <= kernel->max_shared;
}

/*
 * Streams into which this thread has launched, so that they are there: until one is destroyed, launches into them may go
 * one way. 0 to 2 are the default streams.
 */
enum { most_streams = 16, default_streams = 3 };
static _Thread_local struct {
  uint64_t streams[most_streams];
  uint32_t next, removed;
} launched;

static int is_stream(uint64_t stream) {
  if (stream < default_streams) return 1;
  uint32_t removed = lw_header()->removed_streams;
  if (launched.removed != removed) {
    memset(&launched, 0, sizeof launched);
    launched.removed = removed;
  }
  for (int i = 0; i < most_streams; i++) {
    if (launched.streams[i] == stream) return 1;
  }
  return 0;
}

static void note_stream(uint64_t stream) {
  if (is_stream(stream)) return;
  launched.streams[launched.next] = stream;
  launched.next = (launched.next + 1) % most_streams;
}

/* Sends a launch that certainly is accepted. Returns 0 if it is not certain, and nothing has been sent. */
static int launch_one_way(const struct lw_launch *launch, void *const *arguments) {
  if (!lw_is_connected() || !lw_header()->one_way || !is_stream(launch->stream)) return 0;
  _Alignas(16) unsigned char packed[max_parameters];
  int sent = 0;
  const struct lw_kernel *kernel = lw_hold_kernel(launch->function);
  if (kernel != NULL && kernel->bytes <= max_parameters && fits(kernel, launch)) {
    for (uint32_t i = 0; i < kernel->count; i++) {
      memcpy(packed + kernel->parameters[i].at, arguments[i], kernel->parameters[i].size);
    }
    lw_send(LW_LAUNCH, launch, sizeof *launch, packed, kernel->bytes);
    sent = 1;
  }
  lw_release_kernel();
  return sent;
}

struct dim3 {
  uint32_t x, y, z;
};

static uint64_t launch(const char *name, const uint64_t *registers, const uint64_t *stack, uint32_t per_thread) {
  uint64_t words[LW_CALL_WORDS] = {0};
  memcpy(words, registers, 6 * sizeof *words);
  memcpy(words + 6, stack, 2 * sizeof *words);
  struct lw_launch l = {
      .function = words[0],
      .stream = words[7],
      .grid = {(uint32_t)words[1], (uint32_t)(words[1] >> 32), (uint32_t)words[2]},
      .block = {(uint32_t)words[3], (uint32_t)(words[3] >> 32), (uint32_t)words[4]},
      .shared = (uint32_t)words[6],
      .per_thread = per_thread,
  };
  if (words[6] <= 0xffffffffu && launch_one_way(&l, (void *const *)(uintptr_t)words[5])) return 0;
  uint64_t result = lw_call(lw_index_of(name), words, words + 6);
  if (result == 0 && lw_is_connected()) note_stream(l.stream);
  return result;
}

uint64_t lw_local_launch(const uint64_t *registers, const uint64_t *stack) {
  return launch("cudaLaunchKernel", registers, stack, 0);
}

uint64_t lw_local_launch_ptsz(const uint64_t *registers, const uint64_t *stack) {
  return launch("cudaLaunchKernel_ptsz", registers, stack, 1);
}

/* Configurations of `<<<>>>` that have been pushed and not popped: expressions in arguments may launch too. */
enum { max_nesting = 64 };
static _Thread_local struct {
  struct dim3 grid, block;
  uint64_t shared, stream;
} pushed[max_nesting];
static _Thread_local int nesting;

uint64_t lw_local_push(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  if (nesting == max_nesting) return 1;
  pushed[nesting].grid = (struct dim3){(uint32_t)r[0], (uint32_t)(r[0] >> 32), (uint32_t)r[1]};
  pushed[nesting].block = (struct dim3){(uint32_t)r[2], (uint32_t)(r[2] >> 32), (uint32_t)r[3]};
  pushed[nesting].shared = r[4];
  pushed[nesting].stream = r[5];
  nesting++;
  return 0;
}

uint64_t lw_local_pop(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  if (nesting == 0) return 52; /* cudaErrorMissingConfiguration */
  nesting--;
  *(struct dim3 *)(uintptr_t)r[0] = pushed[nesting].grid;
  *(struct dim3 *)(uintptr_t)r[1] = pushed[nesting].block;
  *(uint64_t *)(uintptr_t)r[2] = pushed[nesting].shared;
  *(uint64_t *)(uintptr_t)r[3] = pushed[nesting].stream;
  return 0;
}

/* A kernel's handle is the address of its host function. */
uint64_t lw_local_get_kernel(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  *(uint64_t *)(uintptr_t)r[0] = r[1];
  return 0;
}

uint64_t lw_local_register_fat_binary(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  void **handle = malloc(sizeof *handle);
  if (handle == NULL) return 0;
  *handle = (void *)(uintptr_t)r[0];
  lw_register("__cudaRegisterFatBinary", (uint64_t[6]){(uint64_t)(uintptr_t)handle, r[0]});
  return (uint64_t)(uintptr_t)handle;
}

uint64_t lw_local_register_end(const uint64_t *r, const uint64_t *stack) {
  (void)r;
  (void)stack;
  return 0;
}

uint64_t lw_local_unregister(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  lw_register("__cudaUnregisterFatBinary", (uint64_t[6]){r[0]});
  return 0;
}

/* Host function, name. */
uint64_t lw_local_register_function(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  lw_register("__cudaRegisterFunction", (uint64_t[6]){r[0], r[1], r[3]});
  return 0;
}

/* Shadow, name, size, whether it is constant. */
uint64_t lw_local_register_var(const uint64_t *r, const uint64_t *stack) {
  lw_register("__cudaRegisterVar", (uint64_t[6]){r[0], r[1], r[3], r[5], (uint32_t)stack[0]});
  return 0;
}

/* Pointer that is to be set, name, size. */
uint64_t lw_local_register_managed(const uint64_t *r, const uint64_t *stack) {
  (void)stack;
  lw_register("__cudaRegisterManagedVar", (uint64_t[6]){r[0], r[1], r[3], r[5]});
  return 0;
}
