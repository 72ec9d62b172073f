// Calls ioctl, which Swift can't import because it is variadic.
#ifndef CTERMINAL_SHIM_H
#define CTERMINAL_SHIM_H

#include <sys/ioctl.h>

// Returns the number of columns of a terminal; 0 if unknown.
static inline int cterminal_columns(int descriptor) {
  struct winsize size;
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

#endif
