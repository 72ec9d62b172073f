// The content of a disk, and the part that survives a power cut.
#include "disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct Disk disks[maximumDisks];
static int diskCount;
static pthread_mutex_t disksLock = PTHREAD_MUTEX_INITIALIZER;

// Bytes

static void reserve(struct Bytes *bytes, int64_t size) {
  if (size <= bytes->capacity) return;
  int64_t capacity = bytes->capacity < 4096 ? 4096 : bytes->capacity;
  while (capacity < size) capacity *= 2;
  bytes->start = realloc(bytes->start, (size_t)capacity);
  if (bytes->start == NULL) abort();
  bytes->capacity = capacity;
}

static void put(struct Bytes *bytes, const void *source, int64_t count, int64_t offset) {
  if (count == 0) return;
  reserve(bytes, offset + count);
  // Unwritten bytes are zeros.
  if (offset > bytes->size) memset(bytes->start + bytes->size, 0, (size_t)(offset - bytes->size));
  memcpy(bytes->start + offset, source, (size_t)count);
  if (offset + count > bytes->size) bytes->size = offset + count;
}

static void cut(struct Bytes *bytes, int64_t size) {
  if (size < bytes->size) bytes->size = size;
}

static void assign(struct Bytes *bytes, const struct Bytes *source) {
  bytes->size = 0;
  put(bytes, source->start, source->size, 0);
}

static void release(struct Bytes *bytes) {
  free(bytes->start);
  *bytes = (struct Bytes){0};
}

// Inodes

struct Inode *inode_create(void) {
  struct Inode *inode = calloc(1, sizeof *inode);
  if (inode == NULL) abort();
  return inode;
}

static void forget_changes(struct Inode *inode) {
  for (int i = 0; i < inode->changeCount; i++) release(&inode->changes[i].bytes);
  inode->changeCount = 0;
}

static void drop_locks(struct Inode *inode) {
  for (int i = 0; i < inode->regionCount; i++) free(inode->regions[i]);
  inode->regionCount = inode->sharedMemoryUsers = inode->sharedLocks = 0;
  memset(inode->sharedMemoryReaders, 0, sizeof inode->sharedMemoryReaders);
  memset(inode->sharedMemoryWriter, 0, sizeof inode->sharedMemoryWriter);
  inode->reserved = inode->pending = inode->exclusive = NULL;
}

void inode_release(struct Inode *inode) {
  if (inode == NULL || --inode->references > 0) return;
  forget_changes(inode);
  drop_locks(inode);
  free(inode->changes);
  release(&inode->now);
  release(&inode->safe);
  free(inode);
}

static struct Inode *retain(struct Inode *inode) {
  if (inode != NULL) inode->references++;
  return inode;
}

static struct Change *add_change(struct Inode *inode) {
  if (inode->changeCount == inode->changeCapacity) {
    inode->changeCapacity = inode->changeCapacity * 2 + 16;
    inode->changes = realloc(inode->changes, (size_t)inode->changeCapacity * sizeof *inode->changes);
    if (inode->changes == NULL) abort();
  }
  struct Change *change = &inode->changes[inode->changeCount++];
  memset(change, 0, sizeof *change);
  return change;
}

void inode_write(struct Inode *inode, const void *bytes, int64_t count, int64_t offset) {
  put(&inode->now, bytes, count, offset);
  struct Change *change = add_change(inode);
  change->offset = offset;
  put(&change->bytes, bytes, count, 0);
}

void inode_truncate(struct Inode *inode, int64_t size) {
  cut(&inode->now, size);
  struct Change *change = add_change(inode);
  change->isTruncation = 1;
  change->offset = size;
}

void inode_sync(struct Inode *inode) {
  // Copies only the changes because the file may be large.
  for (int i = 0; i < inode->changeCount; i++) {
    struct Change *change = &inode->changes[i];
    if (change->isTruncation) {
      cut(&inode->safe, change->offset);
    } else {
      put(&inode->safe, change->bytes.start, change->bytes.size, change->offset);
    }
  }
  forget_changes(inode);
}

static uint64_t random_number(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Reduces an inode to the content that survives a power cut.
static void lose_power(struct Inode *inode, uint64_t *state) {
  // In a third of the cuts, half of the changes survive. In the others, nearly all or nearly none do.
  uint64_t odds = *state == 0 ? 0 : (uint64_t[]){1, 8, 15}[random_number(state) % 3];
  for (int i = 0; odds > 0 && i < inode->changeCount; i++) {
    struct Change *change = &inode->changes[i];
    if (change->isTruncation) {
      if (random_number(state) % 16 < odds) cut(&inode->safe, change->offset);
      continue;
    }
    int64_t done = 0;
    while (done < change->bytes.size) {
      int64_t offset = change->offset + done;
      int64_t count = sectorSize - offset % sectorSize;
      if (count > change->bytes.size - done) count = change->bytes.size - done;
      if (random_number(state) % 16 < odds) {
        put(&inode->safe, change->bytes.start + done, count, offset);
      }
      done += count;
    }
  }
  forget_changes(inode);
  assign(&inode->now, &inode->safe);
  drop_locks(inode);
}

// Disks

int disk_fails(struct Disk *disk, enum Need need) {
  if (disk->hasNoPower) {
    disk->faults++;
    return 1;
  }
  if (disk->kind == FaultKindNone) return 0;
  if (disk->kind == FaultKindFull && need == NeedAny) return 0;
  if (disk->kind == FaultKindTorn && need != NeedWrite) return 0;
  int64_t call = ++disk->calls;
  if (disk->failingCall == 0 || call < disk->failingCall) return 0;
  if (call > disk->failingCall && !disk->isPersistent) return 0;
  if (disk->kind == FaultKindPower) disk->hasNoPower = 1;
  disk->faults++;
  return 1;
}

struct Name *disk_name(struct Disk *disk, const char *text, int makes) {
  struct Name *unused = NULL;
  for (int i = 0; i < disk->nameCount; i++) {
    struct Name *name = &disk->names[i];
    if (strcmp(name->text, text) == 0) return name;
    if (name->now == NULL && name->safe == NULL) unused = name;
  }
  if (!makes || strlen(text) >= sizeof unused->text) return NULL;
  if (unused == NULL) {
    if (disk->nameCount == maximumNames) return NULL;
    unused = &disk->names[disk->nameCount++];
  }
  memset(unused, 0, sizeof *unused);
  strcpy(unused->text, text);
  return unused;
}

void disk_sync_folder(struct Disk *disk) {
  for (int i = 0; i < disk->nameCount; i++) {
    struct Name *name = &disk->names[i];
    if (name->safe == name->now) continue;
    inode_release(name->safe);
    name->safe = retain(name->now);
  }
}

static void clear(struct Disk *disk) {
  for (int i = 0; i < disk->nameCount; i++) {
    inode_release(disk->names[i].now);
    inode_release(disk->names[i].safe);
  }
  memset(disk->names, 0, sizeof disk->names);
  disk->nameCount = 0;
  disk->kind = FaultKindNone;
  disk->hasNoPower = 0;
}

int fault_disk_create(void) {
  pthread_mutex_lock(&disksLock);
  int number = diskCount < maximumDisks ? diskCount++ : -1;
  if (number >= 0) {
    pthread_mutex_init(&disks[number].lock, NULL);
    if (disk_register(&disks[number], number) != SQLITE_OK) number = -1;
  }
  pthread_mutex_unlock(&disksLock);
  return number;
}

void fault_disk_clear(int number) {
  struct Disk *disk = &disks[number];
  pthread_mutex_lock(&disk->lock);
  clear(disk);
  pthread_mutex_unlock(&disk->lock);
}

void fault_disk_copy(int number, int sourceNumber) {
  struct Disk *disk = &disks[number], *source = &disks[sourceNumber];
  pthread_mutex_lock(&disk->lock);
  clear(disk);
  for (int i = 0; i < source->nameCount; i++) {
    if (source->names[i].now == NULL) continue;
    struct Name *name = disk_name(disk, source->names[i].text, 1);
    name->now = retain(inode_create());
    assign(&name->now->now, &source->names[i].now->now);
    assign(&name->now->safe, &source->names[i].now->now);
    name->safe = retain(name->now);
  }
  pthread_mutex_unlock(&disk->lock);
}

void fault_disk_arm(int number, int kind, int64_t call, int isPersistent) {
  struct Disk *disk = &disks[number];
  pthread_mutex_lock(&disk->lock);
  disk->kind = kind;
  disk->failingCall = call;
  disk->isPersistent = isPersistent;
  disk->calls = disk->faults = 0;
  disk->hasNoPower = 0;
  pthread_mutex_unlock(&disk->lock);
}

int64_t fault_disk_calls(int number) {
  pthread_mutex_lock(&disks[number].lock);
  int64_t calls = disks[number].calls;
  pthread_mutex_unlock(&disks[number].lock);
  return calls;
}

int64_t fault_disk_faults(int number) {
  pthread_mutex_lock(&disks[number].lock);
  int64_t faults = disks[number].faults;
  pthread_mutex_unlock(&disks[number].lock);
  return faults;
}

int fault_disk_open_files(int number) {
  pthread_mutex_lock(&disks[number].lock);
  int count = disks[number].openFiles;
  pthread_mutex_unlock(&disks[number].lock);
  return count;
}

void fault_disk_restart(int number, uint64_t seed) {
  struct Disk *disk = &disks[number];
  pthread_mutex_lock(&disk->lock);
  disk->kind = FaultKindNone;
  disk->hasNoPower = 0;
  for (int i = 0; i < disk->nameCount; i++) {
    struct Name *name = &disk->names[i];
    if (name->safe != name->now) {
      // The creation or removal of a name survives by chance, too.
      int isKept = seed != 0 && random_number(&seed) % 2 == 0;
      struct Inode *kept = retain(isKept ? name->now : name->safe);
      inode_release(name->now);
      inode_release(name->safe);
      name->now = kept;
      name->safe = retain(kept);
    }
    if (name->now != NULL) lose_power(name->now, &seed);
  }
  pthread_mutex_unlock(&disk->lock);
}

int fault_disk_export(int number, const char *suffix, const char *path) {
  struct Disk *disk = &disks[number];
  int result = -1;
  pthread_mutex_lock(&disk->lock);
  for (int i = 0; i < disk->nameCount; i++) {
    size_t length = strlen(disk->names[i].text), end = strlen(suffix);
    if (disk->names[i].now == NULL || length < end) continue;
    if (strcmp(disk->names[i].text + length - end, suffix) != 0) continue;
    FILE *file = fopen(path, "wb");
    if (file == NULL) break;
    struct Bytes *bytes = &disk->names[i].now->now;
    result = fwrite(bytes->start, 1, (size_t)bytes->size, file) == (size_t)bytes->size ? 0 : -1;
    fclose(file);
    break;
  }
  pthread_mutex_unlock(&disk->lock);
  return result;
}
