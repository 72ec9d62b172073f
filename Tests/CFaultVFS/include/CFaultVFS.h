// Faults for SQLite, for tests only: in-memory disks with I/O errors, torn writes and power cuts, and
// memory that runs out. Disks are identified by numbers, so Swift needs no pointers.
#ifndef CFAULTVFS_H
#define CFAULTVFS_H

#include <stdint.h>

/// The kinds of faults of a disk.
enum FaultKind {
  /// No fault.
  FaultKindNone = 0,
  /// A call of any kind fails.
  FaultKindError = 1,
  /// A call that needs more space fails.
  FaultKindFull = 2,
  /// A write fails after half of its bytes are written.
  FaultKindTorn = 3,
  /// A power cut: this call and all following ones fail.
  FaultKindPower = 4,
};

/// Creates an empty disk, registers its VFS under the name "fault-" followed by its number, and returns
/// the number, or -1 if there are too many disks. Disks exist until the process exits. To reuse a disk,
/// call `fault_disk_clear`.
int fault_disk_create(void);
/// Deletes all files of a disk. No file may be open.
void fault_disk_clear(int disk);
/// Copies the content of `source` to `disk`, where it counts as synced. No file of `disk` may be open.
void fault_disk_copy(int disk, int source);
/// Makes the `call`th call that the fault affects fail, counted from 1, or no call for 0.
void fault_disk_arm(int disk, int kind, int64_t call, int is_persistent);
/// Returns the number of calls that the fault affects, since the disk was armed.
int64_t fault_disk_calls(int disk);
/// Returns the number of calls that have failed since the disk was armed.
int64_t fault_disk_faults(int disk);
/// Returns the number of open files.
int fault_disk_open_files(int disk);
/// Ends a power cut. Each sector and each name that wasn't synced survives by chance, or not at all if
/// the seed is 0. No file may be open.
void fault_disk_restart(int disk, uint64_t seed);
/// Writes a file of a disk to a real file, for debugging. Returns 0 on success.
int fault_disk_export(int disk, const char *suffix, const char *path);

/// Installs an allocator that counts and fails SQLite's allocations. Call it before SQLite is first used.
/// Returns SQLite's result code.
int fault_memory_install(void);
/// Makes the `call`th allocation from now on fail, counted from 1, or no allocation for 0.
void fault_memory_arm(int64_t call, int is_persistent);
/// Returns the number of allocations since the memory was armed.
int64_t fault_memory_calls(void);
/// Returns the number of allocations that have failed since the memory was armed.
int64_t fault_memory_faults(void);
/// Returns the number of bytes that SQLite has allocated.
int64_t fault_memory_used(void);

#endif
