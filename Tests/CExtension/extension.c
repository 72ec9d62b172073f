#include "extension.h"

#include <sqlite3ext.h>
#include <stddef.h>
SQLITE_EXTENSION_INIT1

static void answer(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count, (void)values;
  sqlite3_result_int(context, 42);
}

int sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  SQLITE_EXTENSION_INIT2(api);
  (void)message, (void)api;
  return sqlite3_create_function_v2(
      db, "test_answer", 0, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL, answer, NULL, NULL,
      NULL);
}

int extension_init_permanently(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  int code = sqlite3_extension_init(db, message, api);
  return code == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : code;
}

int extension_init_enabling(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  int code = sqlite3_extension_init(db, message, api);
  return code == SQLITE_OK ? sqlite3_enable_load_extension(db, 1) : code;
}

int extension_init_failing(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  SQLITE_EXTENSION_INIT2(api);
  (void)db, (void)api;
  *message = sqlite3_mprintf("the answer is unknown");
  return SQLITE_ERROR;
}

int extension_init_silent(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  (void)db, (void)message, (void)api;
  return SQLITE_NOMEM;
}

int extension_init_reading(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  SQLITE_EXTENSION_INIT2(api);
  (void)api;
  return sqlite3_exec(db, "SELECT * FROM sqlite_schema", NULL, NULL, message);
}
