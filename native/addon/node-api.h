/* The part of Node-API (stable since Node 10.20) that the add-on uses, so that no headers of Node are needed. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_callback_info__ *napi_callback_info;
typedef struct napi_handle_scope__ *napi_handle_scope;
typedef struct napi_ref__ *napi_ref;
typedef int napi_status;
typedef int napi_typedarray_type;
typedef napi_value (*napi_callback)(napi_env, napi_callback_info);
typedef void (*napi_finalize)(napi_env, void *data, void *hint);

enum { napi_ok = 0, napi_int32_array = 5 };
#define NAPI_AUTO_LENGTH SIZE_MAX

napi_status napi_get_cb_info(napi_env, napi_callback_info, size_t *count, napi_value *arguments, napi_value *self,
                             void **data);
napi_status napi_get_value_int64(napi_env, napi_value, int64_t *);
napi_status napi_get_value_bigint_uint64(napi_env, napi_value, uint64_t *, bool *lossless);
napi_status napi_get_value_string_utf8(napi_env, napi_value, char *, size_t room, size_t *length);
napi_status napi_get_typedarray_info(napi_env, napi_value, napi_typedarray_type *, size_t *length, void **data,
                                     napi_value *buffer, size_t *offset);
napi_status napi_get_value_int32(napi_env, napi_value, int32_t *);
napi_status napi_get_value_uint32(napi_env, napi_value, uint32_t *);
napi_status napi_get_value_double(napi_env, napi_value, double *);
napi_status napi_get_value_bigint_int64(napi_env, napi_value, int64_t *, bool *lossless);
napi_status napi_create_reference(napi_env, napi_value, uint32_t count, napi_ref *);
napi_status napi_get_reference_value(napi_env, napi_ref, napi_value *);
napi_status napi_delete_reference(napi_env, napi_ref);
napi_status napi_add_finalizer(napi_env, napi_value object, void *data, napi_finalize, void *hint, napi_ref *);
napi_status napi_get_undefined(napi_env, napi_value *);
napi_status napi_get_element(napi_env, napi_value array, uint32_t index, napi_value *);
napi_status napi_open_handle_scope(napi_env, napi_handle_scope *);
napi_status napi_close_handle_scope(napi_env, napi_handle_scope);
napi_status napi_call_function(napi_env, napi_value self, napi_value function, size_t count,
                               const napi_value *arguments, napi_value *result);
napi_status napi_throw_error(napi_env, const char *code, const char *message);
napi_status napi_create_int32(napi_env, int32_t, napi_value *);
napi_status napi_create_uint32(napi_env, uint32_t, napi_value *);
napi_status napi_create_double(napi_env, double, napi_value *);
napi_status napi_create_bigint_int64(napi_env, int64_t, napi_value *);
napi_status napi_create_int64(napi_env, int64_t, napi_value *);
napi_status napi_create_external_arraybuffer(napi_env, void *data, size_t bytes, napi_finalize, void *hint,
                                             napi_value *);
napi_status napi_create_function(napi_env, const char *name, size_t length, napi_callback, void *data, napi_value *);
/* Node's own loop is libuv's, which Node exports too. */
struct uv_loop_s;
napi_status napi_get_uv_event_loop(napi_env, struct uv_loop_s **);
int uv_backend_fd(const struct uv_loop_s *);
napi_status napi_set_named_property(napi_env, napi_value object, const char *name, napi_value);
