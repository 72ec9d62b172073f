// Faults for SQLite, in tests only: disks in memory that fail, tear and lose power, and a memory that
// runs out. Both know their faults by a number, so that Swift needs no pointer.
#ifndef CFAULTVFS_H
#define CFAULTVFS_H

#include <stdint.h>

/// What goes wrong on a disk.
enum FaultKind {
  /// Nothing.
  FaultKindNone = 0,
  /// A call of any kind fails.
  FaultKindError = 1,
  /// A call that needs more room fails.
  FaultKindFull = 2,
  /// Half of a write is written, and it fails.
  FaultKindTorn = 3,
  /// The power goes: this call fails and so do all that follow.
  FaultKindPower = 4,
};

/// Makes an empty disk and registers its VFS, "fault-" and the number returned; -1 if there is no
/// more room. Disks live as long as the process; `fault_disk_clear` makes one as good as new.
int fault_disk_create(void);
/// Takes all files off a disk. No file may be open.
void fault_disk_clear(int disk);
/// Makes a disk hold what another holds, all of it safe. No file of the first may be open.
void fault_disk_copy(int disk, int source);
/// Sets the fault at the `call`th call that it concerns, counted from 1, or at none for 0.
void fault_disk_arm(int disk, int kind, int64_t call, int is_persistent);
/// The number of calls since the disk was armed that the fault concerns.
int64_t fault_disk_calls(int disk);
/// The number of calls that have failed since the disk was armed.
int64_t fault_disk_faults(int disk);
/// The number of files that are open.
int fault_disk_open_files(int disk);
/// Ends a power cut: of what was not synced, each sector and each name survives by chance.
///
/// With a seed of 0 nothing of it survives. No file may be open.
void fault_disk_restart(int disk, uint64_t seed);
/// Makes a file of a disk readable to others, for finding out what went wrong. Returns 0 if it could.
int fault_disk_export(int disk, const char *suffix, const char *path);

/// Has SQLite's memory counted and failed. Only before SQLite is used. Returns SQLite's result code.
int fault_memory_install(void);
/// Fails the `call`th allocation from now on, counted from 1, or none for 0.
void fault_memory_arm(int64_t call, int is_persistent);
/// The number of allocations since the memory was armed.
int64_t fault_memory_calls(void);
/// The number of allocations that have failed since the memory was armed.
int64_t fault_memory_faults(void);
/// The number of bytes that SQLite holds.
int64_t fault_memory_used(void);

#endif
