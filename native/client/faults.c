/* Accesses of the program's own code to device memory that is closed to it: the server knows what is wrong with them. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "client.h"

static struct sigaction before;

/* Whether an instruction is an atomic one: it has a lock prefix, or exchanges with memory. */
static int is_atomic(const unsigned char *code) {
  for (int i = 0; i < 4; i++) {
    if (code[i] == 0xf0 || code[i] == 0x86 || code[i] == 0x87) return 1;
    int is_prefix = code[i] == 0x66 || (code[i] & 0xf0) == 0x40;
    if (!is_prefix) return 0;
  }
  return 0;
}

static void on_fault(int number, siginfo_t *info, void *context) {
  uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
  if (address >= LW_ARENA_BASE && address < LW_ARENA_BASE + LW_ARENA_BYTES) {
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    uint64_t words[LW_CALL_WORDS + LW_CALL_FRAMES] = {address, (registers[REG_ERR] & 2) != 0,
                                                      (uint64_t)is_atomic((const unsigned char *)registers[REG_RIP])};
    int frames = backtrace((void **)(uintptr_t)(words + LW_CALL_WORDS), LW_CALL_FRAMES);
    if (lw_request(LW_FAULT, words, (LW_CALL_WORDS + (uint32_t)frames) * (uint32_t)sizeof *words) == 1) return;
  }
  /* The instruction is executed again, and then ends as it would have without this function. */
  sigaction(number, &before, NULL);
}

void lw_watch_faults(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  void *frame;
  /* The first call loads a library, which must not happen in the handler. */
  backtrace(&frame, 1);
  sigaction(SIGSEGV, &action, &before);
}
