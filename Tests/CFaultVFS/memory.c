// SQLite's allocator, which counts its calls and fails a chosen one.
#include "CFaultVFS.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stddef.h>

static sqlite3_mem_methods original;
static atomic_llong calls, failing, faults;
static atomic_int persistent;

static int fails(void) {
  long long call = atomic_fetch_add(&calls, 1) + 1;
  long long at = atomic_load(&failing);
  if (at == 0 || call < at || (call > at && !atomic_load(&persistent))) return 0;
  atomic_fetch_add(&faults, 1);
  return 1;
}

static void *allocate(int size) { return fails() ? NULL : original.xMalloc(size); }
static void *reallocate(void *old, int size) { return fails() ? NULL : original.xRealloc(old, size); }

int fault_memory_install(void) {
  int code = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &original);
  if (code != SQLITE_OK) return code;
  sqlite3_mem_methods methods = original;
  methods.xMalloc = allocate;
  methods.xRealloc = reallocate;
  code = sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
  if (code != SQLITE_OK) return code;
  // With lookaside, small allocations would come from a preallocated block and never fail.
  return sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
}

void fault_memory_arm(int64_t call, int is_persistent) {
  atomic_store(&calls, 0);
  atomic_store(&faults, 0);
  atomic_store(&persistent, is_persistent);
  atomic_store(&failing, call);
}

int64_t fault_memory_calls(void) { return atomic_load(&calls); }
int64_t fault_memory_faults(void) { return atomic_load(&faults); }
int64_t fault_memory_used(void) { return sqlite3_memory_used(); }
