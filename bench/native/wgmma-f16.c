// The same product as that by mma.
#include "mma-f16.c"
