// Runs a program and ends it before one of its calls that change files. For tests, on Linux only.
#ifndef CTRACER_H
#define CTRACER_H

/// Runs a program and prints each of its calls that change files, as they begin, one a line: the name, and the path of
/// the file if the call takes a descriptor.
///
/// `arguments` holds the number of the call before which the program is killed, or 0; the folder whose files
/// count; and the program with its arguments. Calls are counted from 1.
///
/// Returns the exit status of the program, 128 + the number of the signal that ended it, or -1 if it can't be traced.
int tracer_run(int count, char *const _Nullable *const _Nonnull arguments);

#endif
