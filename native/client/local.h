/* Entry points that begin in the program itself: registers (of integers, then %xmm0), and the words on the stack. */
#pragma once
#include <stdint.h>

typedef uint64_t lw_local(const uint64_t *registers, const uint64_t *stack);

lw_local lw_local_launch, lw_local_launch_ptsz, lw_local_push, lw_local_pop, lw_local_get_kernel;
lw_local lw_local_register_fat_binary, lw_local_register_end, lw_local_unregister, lw_local_register_function;
lw_local lw_local_register_var, lw_local_register_managed;
lw_local lw_local_last_error, lw_local_peek_error, lw_local_error_name, lw_local_error_string;
lw_local lw_local_driver_error_name, lw_local_driver_error_string, lw_local_channel;
lw_local lw_local_driver_entry, lw_local_driver_entry_by_version, lw_local_proc_address, lw_local_proc_address_status;
lw_local lw_local_param_float;
