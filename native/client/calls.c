/* Calls of entry points that the server answers. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <string.h>

#include "client.h"

_Thread_local uint32_t lw_last_error;

enum { not_ready = 600 };

/* The driver has the runtime's numbers where both have the error. That something is not ready is none. */
static uint64_t note(uint32_t index, uint64_t result) {
  if (index < lw_runtime_count && result != 0 && result != not_ready) lw_last_error = (uint32_t)result;
  return result;
}

uint64_t lw_call(uint32_t index, const uint64_t *registers, const uint64_t *stack) {
  uint64_t words[LW_CALL_WORDS + LW_CALL_FRAMES];
  memcpy(words, registers, 6 * sizeof *words);
  memcpy(words + 6, stack, (LW_CALL_WORDS - 6) * sizeof *words);
  int problem = lw_connect();
  if (problem != 0) return note(index, (uint64_t)problem);
  int frames = lw_header()->stacks ? backtrace((void **)(uintptr_t)(words + LW_CALL_WORDS), LW_CALL_FRAMES) : 0;
  return note(index, lw_request(index, words, (LW_CALL_WORDS + (uint32_t)frames) * (uint32_t)sizeof *words));
}
