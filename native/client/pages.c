/* Pages of the program that kernels are to see: they become pages of device memory, and the program's own again. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "client.h"
#include "../old-glibc.h"

struct pages {
  void *at;
  uint64_t offset;
  uint64_t bytes;
};

static void adopt(const struct pages *p) {
  int flags = MAP_SHARED | MAP_NORESERVE;
  void *copy = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, flags, lw_arena(), (off_t)p->offset);
  if (copy == MAP_FAILED) return;
  memcpy(copy, p->at, p->bytes);
  munmap(copy, p->bytes);
  mmap(p->at, p->bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, lw_arena(), (off_t)p->offset);
}

static void give_back(const struct pages *p) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  void *copy = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (copy == MAP_FAILED) return;
  memcpy(copy, p->at, p->bytes);
  /* The copy moves to where the pages were. */
  mremap(copy, p->bytes, p->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, p->at);
}

typedef void change(const struct pages *);

static _Thread_local change *next_change;
static _Thread_local const struct pages *next_pages;

static void run_next(void) { next_change(next_pages); }

/* The pages may be of the stack: they are changed from another one, while this one stands still. */
static void on_other_stack(change *what, const struct pages *pages) {
  enum { stack_bytes = 0x10000 };
  void *stack = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return;
  ucontext_t here, there;
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = stack_bytes;
  there.uc_link = &here;
  makecontext(&there, run_next, 0);
  next_change = what;
  next_pages = pages;
  swapcontext(&here, &there);
  munmap(stack, stack_bytes);
}

void lw_adopt(void *pages, uint64_t offset, uint64_t bytes) {
  on_other_stack(adopt, &(struct pages){pages, offset, bytes});
}

void lw_return_pages(void *pages, uint64_t bytes) { on_other_stack(give_back, &(struct pages){pages, 0, bytes}); }
