// In-memory disks: names reference inodes, and inodes store the written and the synced content.
#ifndef DISK_H
#define DISK_H

#include "CFaultVFS.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

enum { sectorSize = 512, maximumDisks = 64, maximumNames = 64, maximumRegions = 32 };

struct Bytes {
  uint8_t *start;
  int64_t size, capacity;
};

/// A change since the last sync: bytes at an offset, or a new size.
struct Change {
  int64_t offset;
  struct Bytes bytes;
  int isTruncation;
};

struct Inode {
  struct Bytes now, safe;
  struct Change *changes;
  int changeCount, changeCapacity;
  /// The number of references by names, synced names and open files.
  int references;
  /// Whether syncing the file syncs the folder, which SQLite's unix VFS does once for new journals.
  int syncsFolder;
  // Locks of files.
  int sharedLocks;
  const void *reserved, *pending, *exclusive;
  // Shared memory.
  void *regions[maximumRegions];
  int regionCount, sharedMemoryUsers;
  int sharedMemoryReaders[SQLITE_SHM_NLOCK];
  const void *sharedMemoryWriter[SQLITE_SHM_NLOCK];
};

struct Name {
  char text[512];
  /// The inode of the name, now and after a power cut, or null if the name doesn't exist.
  struct Inode *now, *safe;
};

struct Disk {
  pthread_mutex_t lock;
  struct Name names[maximumNames];
  int nameCount, openFiles;
  // The fault.
  int kind, isPersistent, hasNoPower;
  int64_t failingCall, calls, faults;
  char vfsName[32];
  sqlite3_vfs vfs;
};

/// An open file.
struct File {
  sqlite3_file base;
  struct Disk *disk;
  struct Inode *inode;
  int level;
  int usesSharedMemory;
  uint16_t sharedMask, exclusiveMask;
};

/// What a call needs from the disk.
enum Need { NeedAny, NeedRoom, NeedWrite };

// The caller must hold the disk's lock.
int disk_fails(struct Disk *disk, enum Need need);
struct Name *disk_name(struct Disk *disk, const char *text, int makes);
void disk_sync_folder(struct Disk *disk);
struct Inode *inode_create(void);
void inode_release(struct Inode *inode);
void inode_write(struct Inode *inode, const void *bytes, int64_t count, int64_t offset);
void inode_truncate(struct Inode *inode, int64_t size);
void inode_sync(struct Inode *inode);

extern const sqlite3_io_methods fault_file_methods;
/// Registers the VFS of a disk.
int disk_register(struct Disk *disk, int number);

#endif
