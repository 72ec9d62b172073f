// The VFS of an in-memory disk: files, their locks, and their shared memory.
#include "disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void enter(struct File *file) { pthread_mutex_lock(&file->disk->lock); }

static int leave(struct File *file, int code) {
  pthread_mutex_unlock(&file->disk->lock);
  return code;
}

// Content

static int file_close(sqlite3_file *base) {
  struct File *file = (struct File *)base;
  enter(file);
  struct Disk *disk = file->disk;
  disk->openFiles--;
  inode_release(file->inode);
  file->inode = NULL;
  pthread_mutex_unlock(&disk->lock);
  return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *target, int count, sqlite3_int64 offset) {
  struct File *file = (struct File *)base;
  enter(file);
  if (disk_fails(file->disk, NeedAny)) return leave(file, SQLITE_IOERR_READ);
  struct Bytes *bytes = &file->inode->now;
  int64_t there = bytes->size - offset;
  if (there < 0) there = 0;
  if (there > count) there = count;
  if (there > 0) memcpy(target, bytes->start + offset, (size_t)there);
  if (there == count) return leave(file, SQLITE_OK);
  memset((char *)target + there, 0, (size_t)(count - there));
  return leave(file, SQLITE_IOERR_SHORT_READ);
}

static int file_write(sqlite3_file *base, const void *source, int count, sqlite3_int64 offset) {
  struct File *file = (struct File *)base;
  enter(file);
  if (disk_fails(file->disk, NeedWrite)) {
    if (file->disk->kind == FaultKindTorn) inode_write(file->inode, source, count / 2, offset);
    return leave(file, file->disk->kind == FaultKindFull ? SQLITE_FULL : SQLITE_IOERR_WRITE);
  }
  inode_write(file->inode, source, count, offset);
  return leave(file, SQLITE_OK);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
  struct File *file = (struct File *)base;
  enter(file);
  if (disk_fails(file->disk, NeedAny)) return leave(file, SQLITE_IOERR_TRUNCATE);
  inode_truncate(file->inode, size);
  return leave(file, SQLITE_OK);
}

static int file_sync(sqlite3_file *base, int flags) {
  struct File *file = (struct File *)base;
  (void)flags;
  enter(file);
  if (disk_fails(file->disk, NeedAny)) return leave(file, SQLITE_IOERR_FSYNC);
  inode_sync(file->inode);
  if (file->inode->syncsFolder) {
    disk_sync_folder(file->disk);
    file->inode->syncsFolder = 0;
  }
  return leave(file, SQLITE_OK);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
  struct File *file = (struct File *)base;
  enter(file);
  if (disk_fails(file->disk, NeedAny)) return leave(file, SQLITE_IOERR_FSTAT);
  *size = file->inode->now.size;
  return leave(file, SQLITE_OK);
}

// Locks

static int file_lock(sqlite3_file *base, int level) {
  struct File *file = (struct File *)base;
  struct Inode *inode = file->inode;
  enter(file);
  if (file->level >= level) return leave(file, SQLITE_OK);
  if (disk_fails(file->disk, NeedAny)) return leave(file, SQLITE_IOERR_LOCK);
  if (file->level == SQLITE_LOCK_NONE) {
    if (inode->pending != NULL || inode->exclusive != NULL) return leave(file, SQLITE_BUSY);
    inode->sharedLocks++;
    file->level = SQLITE_LOCK_SHARED;
    return leave(file, SQLITE_OK);
  }
  if (level == SQLITE_LOCK_RESERVED) {
    if (inode->reserved != NULL || inode->pending != NULL) return leave(file, SQLITE_BUSY);
    inode->reserved = file;
    file->level = SQLITE_LOCK_RESERVED;
    return leave(file, SQLITE_OK);
  }
  int isOthers = (inode->reserved != NULL && inode->reserved != file) ||
                 (inode->pending != NULL && inode->pending != file);
  if (isOthers) return leave(file, SQLITE_BUSY);
  inode->pending = file;
  if (file->level < SQLITE_LOCK_PENDING) file->level = SQLITE_LOCK_PENDING;
  if (inode->sharedLocks > 1) return leave(file, SQLITE_BUSY);
  inode->exclusive = file;
  file->level = SQLITE_LOCK_EXCLUSIVE;
  return leave(file, SQLITE_OK);
}

static int file_unlock(sqlite3_file *base, int level) {
  struct File *file = (struct File *)base;
  struct Inode *inode = file->inode;
  enter(file);
  if (file->level <= level) return leave(file, SQLITE_OK);
  if (inode->exclusive == file) inode->exclusive = NULL;
  if (inode->pending == file) inode->pending = NULL;
  if (inode->reserved == file) inode->reserved = NULL;
  if (level == SQLITE_LOCK_NONE) inode->sharedLocks--;
  file->level = level;
  return leave(file, SQLITE_OK);
}

static int file_check_reserved(sqlite3_file *base, int *result) {
  struct File *file = (struct File *)base;
  enter(file);
  if (disk_fails(file->disk, NeedAny)) return leave(file, SQLITE_IOERR_CHECKRESERVEDLOCK);
  *result = file->inode->reserved != NULL || file->inode->pending != NULL;
  return leave(file, SQLITE_OK);
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
  struct File *file = (struct File *)base;
  if (operation == SQLITE_FCNTL_VFSNAME) {
    *(char **)argument = sqlite3_mprintf("%s", file->disk->vfsName);
    return SQLITE_OK;
  }
  return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *base) {
  (void)base;
  return 4096;
}

static int file_characteristics(sqlite3_file *base) {
  (void)base;
  // Like in the unix VFS, a write changes no bytes outside of its range.
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

// Shared memory

static int shm_map(sqlite3_file *base, int region, int size, int extends, void volatile **result) {
  struct File *file = (struct File *)base;
  struct Inode *inode = file->inode;
  *result = NULL;
  enter(file);
  if (!file->usesSharedMemory) {
    file->usesSharedMemory = 1;
    inode->sharedMemoryUsers++;
  }
  if (region < inode->regionCount) {
    *result = inode->regions[region];
    return leave(file, SQLITE_OK);
  }
  if (disk_fails(file->disk, NeedRoom)) {
    return leave(file, extends ? SQLITE_IOERR_SHMSIZE : SQLITE_IOERR_SHMMAP);
  }
  if (!extends) return leave(file, SQLITE_OK);
  if (region >= maximumRegions) return leave(file, SQLITE_IOERR_SHMSIZE);
  while (inode->regionCount <= region) {
    inode->regions[inode->regionCount] = calloc(1, (size_t)size);
    if (inode->regions[inode->regionCount] == NULL) abort();
    inode->regionCount++;
  }
  *result = inode->regions[region];
  return leave(file, SQLITE_OK);
}

static int shm_lock(sqlite3_file *base, int first, int count, int flags) {
  struct File *file = (struct File *)base;
  struct Inode *inode = file->inode;
  uint16_t mask = (uint16_t)(((1u << count) - 1) << first);
  enter(file);
  if (flags & SQLITE_SHM_UNLOCK) {
    for (int i = first; i < first + count; i++) {
      if (file->sharedMask & (1u << i)) inode->sharedMemoryReaders[i]--;
      if (inode->sharedMemoryWriter[i] == file) inode->sharedMemoryWriter[i] = NULL;
    }
    file->sharedMask &= (uint16_t)~mask;
    file->exclusiveMask &= (uint16_t)~mask;
    return leave(file, SQLITE_OK);
  }
  if (disk_fails(file->disk, NeedAny)) return leave(file, SQLITE_IOERR_SHMLOCK);
  if (flags & SQLITE_SHM_SHARED) {
    if (file->sharedMask & mask) return leave(file, SQLITE_OK);
    if (inode->sharedMemoryWriter[first] != NULL) return leave(file, SQLITE_BUSY);
    inode->sharedMemoryReaders[first]++;
    file->sharedMask |= mask;
    return leave(file, SQLITE_OK);
  }
  for (int i = first; i < first + count; i++) {
    int own = (file->sharedMask >> i) & 1;
    int isOthers = inode->sharedMemoryWriter[i] != NULL && inode->sharedMemoryWriter[i] != file;
    if (isOthers || inode->sharedMemoryReaders[i] > own) return leave(file, SQLITE_BUSY);
  }
  for (int i = first; i < first + count; i++) inode->sharedMemoryWriter[i] = file;
  file->exclusiveMask |= mask;
  return leave(file, SQLITE_OK);
}

static void shm_barrier(sqlite3_file *base) {
  struct File *file = (struct File *)base;
  enter(file);
  leave(file, SQLITE_OK);
}

static int shm_unmap(sqlite3_file *base, int deletes) {
  struct File *file = (struct File *)base;
  struct Inode *inode = file->inode;
  (void)deletes;
  enter(file);
  if (file->usesSharedMemory) {
    file->usesSharedMemory = 0;
    // Like the shared-memory file of other VFSs, it is deleted with its last user.
    if (--inode->sharedMemoryUsers == 0) {
      for (int i = 0; i < inode->regionCount; i++) free(inode->regions[i]);
      inode->regionCount = 0;
    }
  }
  return leave(file, SQLITE_OK);
}

const sqlite3_io_methods fault_file_methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

// The file system

static int vfs_open(
    sqlite3_vfs *vfs, const char *text, sqlite3_file *base, int flags, int *outFlags) {
  struct File *file = (struct File *)base;
  struct Disk *disk = vfs->pAppData;
  memset(file, 0, sizeof *file);
  pthread_mutex_lock(&disk->lock);
  struct Name *name = text == NULL ? NULL : disk_name(disk, text, flags & SQLITE_OPEN_CREATE);
  int isMissing = text != NULL && (name == NULL || (name->now == NULL && !(flags & SQLITE_OPEN_CREATE)));
  int makes = name != NULL && name->now == NULL;
  if (isMissing || disk_fails(disk, makes || text == NULL ? NeedRoom : NeedAny)) {
    pthread_mutex_unlock(&disk->lock);
    return SQLITE_CANTOPEN;
  }
  if (makes) {
    name->now = inode_create();
    name->now->references = 1;
    name->now->syncsFolder = (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)) != 0;
  }
  file->inode = name != NULL ? name->now : inode_create();
  file->inode->references++;
  file->disk = disk;
  disk->openFiles++;
  pthread_mutex_unlock(&disk->lock);
  file->base.pMethods = &fault_file_methods;
  if (outFlags != NULL) *outFlags = flags;
  return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *text, int syncsFolder) {
  struct Disk *disk = vfs->pAppData;
  int code = SQLITE_OK;
  pthread_mutex_lock(&disk->lock);
  struct Name *name = disk_name(disk, text, 0);
  if (disk_fails(disk, NeedAny)) {
    code = SQLITE_IOERR_DELETE;
  } else if (name == NULL || name->now == NULL) {
    code = SQLITE_IOERR_DELETE_NOENT;
  } else {
    inode_release(name->now);
    name->now = NULL;
    if (syncsFolder) disk_sync_folder(disk);
  }
  pthread_mutex_unlock(&disk->lock);
  return code;
}

static int vfs_access(sqlite3_vfs *vfs, const char *text, int flags, int *result) {
  struct Disk *disk = vfs->pAppData;
  (void)flags;
  pthread_mutex_lock(&disk->lock);
  struct Name *name = disk_name(disk, text, 0);
  int fails = disk_fails(disk, NeedAny);
  *result = !fails && name != NULL && name->now != NULL;
  pthread_mutex_unlock(&disk->lock);
  return fails ? SQLITE_IOERR_ACCESS : SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *text, int capacity, char *result) {
  (void)vfs;
  if ((int)strlen(text) >= capacity) return SQLITE_CANTOPEN;
  strcpy(result, text);
  return SQLITE_OK;
}

int disk_register(struct Disk *disk, int number) {
  sqlite3_vfs *system = sqlite3_vfs_find(NULL);
  if (system == NULL) return SQLITE_ERROR;
  snprintf(disk->vfsName, sizeof disk->vfsName, "fault-%d", number);
  // Inherits random numbers, time and sleep from the system's VFS.
  disk->vfs = *system;
  disk->vfs.pNext = NULL;
  disk->vfs.zName = disk->vfsName;
  disk->vfs.pAppData = disk;
  disk->vfs.szOsFile = sizeof(struct File);
  disk->vfs.mxPathname = sizeof((struct Name){0}.text) - 1;
  disk->vfs.iVersion = 2;
  disk->vfs.xOpen = vfs_open;
  disk->vfs.xDelete = vfs_delete;
  disk->vfs.xAccess = vfs_access;
  disk->vfs.xFullPathname = vfs_full_path;
  return sqlite3_vfs_register(&disk->vfs, 0);
}
