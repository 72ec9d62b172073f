// A node of a dqlite cluster for tests: node ID ADDRESS FOLDER [OWN]. It says when it takes connections, and runs until it
// is killed, or until its standard input ends, so that no node outlives its test. Others reach it by ADDRESS, behind which a proxy
// may stand: then OWN is its own.
#include <dqlite.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

// Tells where the node was when it ended by itself.
static void tell(int number) {
  void *frames[40];
  backtrace_symbols_fd(frames, backtrace(frames, 40), 2);
  signal(number, SIG_DFL);
  raise(number);
}

int main(int count, char **arguments) {
  dqlite_node *node = NULL;
  if (count != 4 && count != 5) {
    fprintf(stderr, "usage: node ID ADDRESS FOLDER [OWN]\n");
    return 2;
  }
  // A node writes to others that may be gone.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGSEGV, tell);
  signal(SIGABRT, tell);
  // On a busy machine a follower that waits too long for a processor would take the lead. Only root may do this.
  setpriority(PRIO_PROCESS, 0, -10);
  unsigned long long id = strtoull(arguments[1], NULL, 10);
  if (dqlite_node_create(id, arguments[2], arguments[3], &node) != 0 ||
      dqlite_node_set_bind_address(node, arguments[count == 5 ? 4 : 2]) != 0 ||
      dqlite_node_set_network_latency_ms(node, 20) != 0 || dqlite_node_start(node) != 0) {
    fprintf(stderr, "node %llu: %s\n", id, node == NULL ? "no memory" : dqlite_node_errmsg(node));
    return 1;
  }
  printf("started\n");
  fflush(stdout);
  char byte;
  while (read(0, &byte, 1) > 0) {
  }
  // Stopping the node would wait for the statement that it works on, which may have no end.
  _exit(0);
}
