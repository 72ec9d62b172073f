// Runs a program and kills it before one of its calls that change files. For tests on Linux only.
#ifndef CTRACER_H
#define CTRACER_H

/// Runs a program and prints each of its calls that change files, one per line, before the call runs: the name, and the
/// path of the file if the call takes a descriptor.
///
/// `arguments` contains the number of the call before which the program is killed, from 1, or 0; the folder with the
/// files to trace; and the program with its arguments.
///
/// Returns the exit status of the program, 128 + the number of the signal that ended it, or -1 if it can't be traced.
int tracer_run(int count, char *const _Nullable *const _Nonnull arguments);

#endif
