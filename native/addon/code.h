#pragma once
#include "node-api.h"

/* Functions of the add-on: see code.c. */
napi_value do_load_code(napi_env, napi_callback_info);
napi_value do_bind_code(napi_env, napi_callback_info);
