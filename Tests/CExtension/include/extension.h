// An SQLite extension for tests, with entry points that succeed and fail. `ExtensionTests` also compiles it as a
// shared library.
#ifndef CEXTENSION_H
#define CEXTENSION_H

#include <sqlite3.h>

// Adds the function `test_answer()`, which returns 42.
int sqlite3_extension_init(sqlite3 *, char **, const sqlite3_api_routines *);
// Like `sqlite3_extension_init`, and asks SQLite to keep the library loaded.
int extension_init_permanently(sqlite3 *, char **, const sqlite3_api_routines *);
// Like `sqlite3_extension_init`, and lets SQL load further extensions.
int extension_init_enabling(sqlite3 *, char **, const sqlite3_api_routines *);
// Fails with a message.
int extension_init_failing(sqlite3 *, char **, const sqlite3_api_routines *);
// Fails without a message.
int extension_init_silent(sqlite3 *, char **, const sqlite3_api_routines *);
// Reads the schema, which fails if the file can't be read.
int extension_init_reading(sqlite3 *, char **, const sqlite3_api_routines *);

#endif
