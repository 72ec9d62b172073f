// The module CSQLite of the trait SQLCipher.
#define CSQLITE_PREFERS_SQLCIPHER 1
#include "../../../CSQLite/shim.h"
