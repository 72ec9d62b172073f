// What Swift cannot import, since it takes any arguments.
#ifndef CTERMINAL_SHIM_H
#define CTERMINAL_SHIM_H

#include <sys/ioctl.h>

// The columns of a terminal, 0 if they are not known.
static inline int cterminal_columns(int descriptor) {
  struct winsize size;
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

#endif
