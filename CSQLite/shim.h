// Declarations that Swift can't import from sqlite3.h, and nothing else.
#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

// sqlite3.h declares the functions of these features only if the macros are defined.
#ifndef SQLITE_ENABLE_PREUPDATE_HOOK
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#endif
#ifndef SQLITE_ENABLE_SESSION
#define SQLITE_ENABLE_SESSION 1
#endif

// SQLCipher's header is often in a folder of its own.
#if defined(CSQLITE_PREFERS_SQLCIPHER) && __has_include(<sqlcipher/sqlite3.h>)
#include <sqlcipher/sqlite3.h>
#else
#include <sqlite3.h>
#endif
#include <stddef.h>

// Not every libsqlite3 has these functions. With weak references, a program links with all of them
// and checks at run time. SQLiteCore calls a function only if csqlite_has_… returns true, or through
// a wrapper that checks.
#if defined(__APPLE__)
#define CSQLITE_OPTIONAL __attribute__((weak_import))
#else
#define CSQLITE_OPTIONAL __attribute__((weak))
#endif

extern void *sqlite3_preupdate_hook(
    sqlite3 *, void (*)(void *, sqlite3 *, int, char const *, char const *, sqlite3_int64, sqlite3_int64),
    void *) CSQLITE_OPTIONAL;
extern int sqlite3_preupdate_old(sqlite3 *, int, sqlite3_value **) CSQLITE_OPTIONAL;
extern int sqlite3_preupdate_new(sqlite3 *, int, sqlite3_value **) CSQLITE_OPTIONAL;
extern int sqlite3_preupdate_count(sqlite3 *) CSQLITE_OPTIONAL;
extern int sqlite3_preupdate_depth(sqlite3 *) CSQLITE_OPTIONAL;
extern int sqlite3_preupdate_blobwrite(sqlite3 *) CSQLITE_OPTIONAL;
extern int sqlite3_error_offset(sqlite3 *) CSQLITE_OPTIONAL;
extern int sqlite3_load_extension(sqlite3 *, const char *, const char *, char **) CSQLITE_OPTIONAL;
extern unsigned char *sqlite3_serialize(sqlite3 *, const char *, sqlite3_int64 *, unsigned int)
    CSQLITE_OPTIONAL;
extern int sqlite3_deserialize(
    sqlite3 *, const char *, unsigned char *, sqlite3_int64, sqlite3_int64, unsigned)
    CSQLITE_OPTIONAL;

// SQLCipher's functions. sqlite3.h declares them only if SQLITE_HAS_CODEC is defined.
extern int sqlite3_key_v2(sqlite3 *, const char *, const void *, int) CSQLITE_OPTIONAL;
extern int sqlite3_rekey_v2(sqlite3 *, const char *, const void *, int) CSQLITE_OPTIONAL;

static inline int csqlite_has_key(void) {
  return sqlite3_key_v2 != NULL && sqlite3_rekey_v2 != NULL;
}
static inline int csqlite_has_preupdate(void) {
  return sqlite3_preupdate_hook != NULL && sqlite3_preupdate_old != NULL &&
         sqlite3_preupdate_new != NULL && sqlite3_preupdate_count != NULL &&
         sqlite3_preupdate_depth != NULL;
}
static inline int csqlite_has_serialize(void) {
  return sqlite3_serialize != NULL && sqlite3_deserialize != NULL;
}
static inline int csqlite_has_load_extension(void) { return sqlite3_load_extension != NULL; }
static inline int csqlite_preupdate_blobwrite(sqlite3 *db) {
  return sqlite3_preupdate_blobwrite != NULL ? sqlite3_preupdate_blobwrite(db) : -1;
}
// Returns the byte offset of the last error in its SQL, or -1 if there is none.
static inline int csqlite_error_offset(sqlite3 *db) {
  return sqlite3_error_offset != NULL ? sqlite3_error_offset(db) : -1;
}

// SQLITE_TRANSIENT makes SQLite copy the bytes. It is a cast of -1 to a function pointer, which Swift
// can't import.
static inline int csqlite_bind_text(sqlite3_stmt *s, int i, const void *p, sqlite3_uint64 n) {
  return sqlite3_bind_text64(s, i, (const char *)p, n, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline int csqlite_bind_blob(sqlite3_stmt *s, int i, const void *p, sqlite3_uint64 n) {
  return sqlite3_bind_blob64(s, i, p, n, SQLITE_TRANSIENT);
}
static inline void csqlite_result_text(sqlite3_context *c, const void *p, sqlite3_uint64 n) {
  sqlite3_result_text64(c, (const char *)p, n, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline void csqlite_result_blob(sqlite3_context *c, const void *p, sqlite3_uint64 n) {
  sqlite3_result_blob64(c, p, n, SQLITE_TRANSIENT);
}

// sqlite3_db_config is variadic, so Swift can't import it.
static inline int csqlite_db_config(sqlite3 *db, int operation, int value, int *now) {
  return sqlite3_db_config(db, operation, value, now);
}

// sqlite3_vtab_config is variadic, so Swift can't import it.
static inline int csqlite_vtab_direct_only(sqlite3 *db) {
  return sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
}

// Extended result codes are macros with shifts, which Swift doesn't import.
#define CSQLITE_CODE(name) static const int CSQLITE_##name = SQLITE_##name
CSQLITE_CODE(ERROR_MISSING_COLLSEQ);
CSQLITE_CODE(ERROR_RETRY);
CSQLITE_CODE(ERROR_SNAPSHOT);
CSQLITE_CODE(IOERR_READ);
CSQLITE_CODE(IOERR_SHORT_READ);
CSQLITE_CODE(IOERR_WRITE);
CSQLITE_CODE(IOERR_FSYNC);
CSQLITE_CODE(IOERR_DIR_FSYNC);
CSQLITE_CODE(IOERR_TRUNCATE);
CSQLITE_CODE(IOERR_FSTAT);
CSQLITE_CODE(IOERR_UNLOCK);
CSQLITE_CODE(IOERR_RDLOCK);
CSQLITE_CODE(IOERR_DELETE);
CSQLITE_CODE(IOERR_NOMEM);
CSQLITE_CODE(IOERR_ACCESS);
CSQLITE_CODE(IOERR_LOCK);
CSQLITE_CODE(IOERR_CLOSE);
CSQLITE_CODE(IOERR_SHMOPEN);
CSQLITE_CODE(IOERR_SHMSIZE);
CSQLITE_CODE(IOERR_SHMMAP);
CSQLITE_CODE(IOERR_SEEK);
CSQLITE_CODE(IOERR_MMAP);
CSQLITE_CODE(IOERR_CORRUPTFS);
CSQLITE_CODE(LOCKED_SHAREDCACHE);
CSQLITE_CODE(LOCKED_VTAB);
CSQLITE_CODE(BUSY_RECOVERY);
CSQLITE_CODE(BUSY_SNAPSHOT);
CSQLITE_CODE(BUSY_TIMEOUT);
CSQLITE_CODE(CANTOPEN_ISDIR);
CSQLITE_CODE(CANTOPEN_FULLPATH);
CSQLITE_CODE(CANTOPEN_SYMLINK);
CSQLITE_CODE(CORRUPT_VTAB);
CSQLITE_CODE(CORRUPT_SEQUENCE);
CSQLITE_CODE(CORRUPT_INDEX);
CSQLITE_CODE(READONLY_RECOVERY);
CSQLITE_CODE(READONLY_CANTLOCK);
CSQLITE_CODE(READONLY_ROLLBACK);
CSQLITE_CODE(READONLY_DBMOVED);
CSQLITE_CODE(READONLY_CANTINIT);
CSQLITE_CODE(READONLY_DIRECTORY);
CSQLITE_CODE(ABORT_ROLLBACK);
CSQLITE_CODE(CONSTRAINT_CHECK);
CSQLITE_CODE(CONSTRAINT_COMMITHOOK);
CSQLITE_CODE(CONSTRAINT_FOREIGNKEY);
CSQLITE_CODE(CONSTRAINT_FUNCTION);
CSQLITE_CODE(CONSTRAINT_NOTNULL);
CSQLITE_CODE(CONSTRAINT_PRIMARYKEY);
CSQLITE_CODE(CONSTRAINT_TRIGGER);
CSQLITE_CODE(CONSTRAINT_UNIQUE);
CSQLITE_CODE(CONSTRAINT_VTAB);
CSQLITE_CODE(CONSTRAINT_ROWID);
CSQLITE_CODE(CONSTRAINT_PINNED);
CSQLITE_CODE(CONSTRAINT_DATATYPE);
CSQLITE_CODE(AUTH_USER);
#undef CSQLITE_CODE

#endif
