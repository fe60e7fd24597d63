/* The entry points of the runtime and the driver, by name. */
#include <string.h>

#include "client.h"

uint32_t lw_index_of(const char *name) {
  for (uint32_t i = 0; i < lw_entry_count; i++) {
    if (strcmp(lw_entries[i].name, name) == 0) return i;
  }
  return lw_entry_count;
}

void *lw_function_of(const char *name) {
  uint32_t i = lw_index_of(name);
  return i < lw_entry_count ? lw_entries[i].function : NULL;
}
