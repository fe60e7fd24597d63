/*
 * Functions that glibc 2.34 moved to another library, under the versions that they had before: so the library loads with
 * older ones too, wherever it was linked.
 */
#pragma once
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver pthread_attr_getstack, pthread_attr_getstack@GLIBC_2.2.5");
__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_detach, pthread_detach@GLIBC_2.2.5");
__asm__(".symver pthread_once, pthread_once@GLIBC_2.2.5");
