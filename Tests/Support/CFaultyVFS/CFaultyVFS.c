#include "CFaultyVFS.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR 512
#define FILES 3
#define REGIONS 64

static const char *const suffixes[FILES] = {"", "-wal", "-journal"};

/* A write (or, without data, a truncation) that was not synced yet. */
typedef struct change {
    struct change *next;
    sqlite3_int64 offset;
    int length;
    unsigned char *data;
} change;

typedef struct {
    unsigned char *bytes;
    sqlite3_int64 length, capacity;
} buffer;

typedef struct {
    int exists;
    /* What programs read, and what a power cut leaves for sure. */
    buffer present, durable;
    change *first, **last;
} stored_file;

struct faulty_disk {
    faulty_disk *next;
    char *path;
    stored_file files[FILES];
    void *regions[REGIONS];
    long operations, syncs;
    int ignores_synchronous;
    faulty_hook hook;
    void *context;
};

typedef struct {
    sqlite3_file base;
    faulty_disk *disk;
    stored_file *file;
} open_file;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static faulty_disk *disks;
static sqlite3_vfs vfs;
static sqlite3_vfs *usual;

/* MARK: Bytes */

static int put(buffer *to, sqlite3_int64 offset, const unsigned char *data, int length) {
    sqlite3_int64 end = offset + length;
    if (end > to->capacity) {
        sqlite3_int64 capacity = end * 2;
        unsigned char *bytes = realloc(to->bytes, (size_t)capacity);
        if (!bytes) return SQLITE_IOERR_NOMEM;
        memset(bytes + to->capacity, 0, (size_t)(capacity - to->capacity));
        to->bytes = bytes;
        to->capacity = capacity;
    }
    if (length > 0) memcpy(to->bytes + offset, data, (size_t)length);
    if (end > to->length) to->length = end;
    return SQLITE_OK;
}

static int cut(buffer *to, sqlite3_int64 length) {
    if (length > to->length) return put(to, length, NULL, 0);
    memset(to->bytes + length, 0, (size_t)(to->length - length));
    to->length = length;
    return SQLITE_OK;
}

static int apply(buffer *to, const change *one) {
    return one->data ? put(to, one->offset, one->data, one->length) : cut(to, one->offset);
}

static void forget_changes(stored_file *file) {
    for (change *one = file->first; one;) {
        change *next = one->next;
        free(one->data);
        free(one);
        one = next;
    }
    file->first = NULL;
    file->last = &file->first;
}

static void empty(stored_file *file) {
    forget_changes(file);
    free(file->present.bytes);
    free(file->durable.bytes);
    memset(&file->present, 0, sizeof file->present);
    memset(&file->durable, 0, sizeof file->durable);
    file->exists = 0;
}

static int remember(stored_file *file, sqlite3_int64 offset, const void *data, int length) {
    change *one = calloc(1, sizeof *one);
    if (!one) return SQLITE_IOERR_NOMEM;
    one->offset = offset;
    one->length = length;
    if (data) {
        one->data = malloc((size_t)length);
        if (!one->data) {
            free(one);
            return SQLITE_IOERR_NOMEM;
        }
        memcpy(one->data, data, (size_t)length);
    }
    *file->last = one;
    file->last = &one->next;
    return apply(&file->present, one);
}

/* splitmix64 */
static unsigned long long roll(unsigned long long *state) {
    unsigned long long z = (*state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static int apply_torn(buffer *to, const change *one, unsigned long long *dice) {
    sqlite3_int64 at = one->offset, end = one->offset + one->length;
    while (at < end) {
        sqlite3_int64 next = (at / SECTOR + 1) * SECTOR;
        if (next > end) next = end;
        if (roll(dice) & 1) {
            int rc = put(to, at, one->data + (at - one->offset), (int)(next - at));
            if (rc != SQLITE_OK) return rc;
        }
        at = next;
    }
    return SQLITE_OK;
}

/* MARK: Files */

static void count(open_file *opened) {
    faulty_disk *disk = opened->disk;
    disk->operations++;
    if (disk->hook) disk->hook(disk->context, disk->operations);
}

static int file_close(sqlite3_file *base) {
    (void)base;
    return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *data, int length, sqlite3_int64 offset) {
    const buffer *from = &((open_file *)base)->file->present;
    sqlite3_int64 there = from->length > offset ? from->length - offset : 0;
    if (there >= length) {
        memcpy(data, from->bytes + offset, (size_t)length);
        return SQLITE_OK;
    }
    if (there > 0) memcpy(data, from->bytes + offset, (size_t)there);
    memset((char *)data + there, 0, (size_t)(length - there));
    return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *base, const void *data, int length, sqlite3_int64 offset) {
    open_file *opened = (open_file *)base;
    count(opened);
    return length > 0 ? remember(opened->file, offset, data, length) : SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 length) {
    open_file *opened = (open_file *)base;
    count(opened);
    return remember(opened->file, length, NULL, 0);
}

static int file_sync(sqlite3_file *base, int flags) {
    open_file *opened = (open_file *)base;
    (void)flags;
    count(opened);
    opened->disk->syncs++;
    for (const change *one = opened->file->first; one; one = one->next) {
        int rc = apply(&opened->file->durable, one);
        if (rc != SQLITE_OK) return rc;
    }
    forget_changes(opened->file);
    return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
    *size = ((open_file *)base)->file->present.length;
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *base, int level) {
    (void)base, (void)level;
    return SQLITE_OK;
}

static int file_check_lock(sqlite3_file *base, int *is_locked) {
    (void)base;
    *is_locked = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
    if (operation != SQLITE_FCNTL_PRAGMA || !((open_file *)base)->disk->ignores_synchronous) return SQLITE_NOTFOUND;
    char **words = argument;
    if (sqlite3_stricmp(words[1], "synchronous") != 0) return SQLITE_NOTFOUND;
    /* Less is obeyed, more is not; asked, it says FULL. */
    if (words[2] && sqlite3_stricmp(words[2], "NORMAL") == 0) return SQLITE_NOTFOUND;
    if (!words[2]) words[0] = sqlite3_mprintf("2");
    return SQLITE_OK;
}

static int file_sector_size(sqlite3_file *base) {
    (void)base;
    return SECTOR;
}

/* As SQLite takes it on Linux. */
static int file_characteristics(sqlite3_file *base) {
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int file_map(sqlite3_file *base, int region, int size, int extend, void volatile **memory) {
    faulty_disk *disk = ((open_file *)base)->disk;
    if (region >= REGIONS) return SQLITE_IOERR_SHMSIZE;
    if (!disk->regions[region] && extend) disk->regions[region] = calloc(1, (size_t)size);
    *memory = disk->regions[region];
    return extend && !*memory ? SQLITE_IOERR_NOMEM : SQLITE_OK;
}

static int file_lock_shared(sqlite3_file *base, int offset, int count, int flags) {
    (void)base, (void)offset, (void)count, (void)flags;
    return SQLITE_OK;
}

static void file_barrier(sqlite3_file *base) {
    (void)base;
    __sync_synchronize();
}

static int file_unmap(sqlite3_file *base, int is_deleted) {
    faulty_disk *disk = ((open_file *)base)->disk;
    (void)is_deleted;
    for (int region = 0; region < REGIONS; region++) {
        free(disk->regions[region]);
        disk->regions[region] = NULL;
    }
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_map,
    .xShmLock = file_lock_shared,
    .xShmBarrier = file_barrier,
    .xShmUnmap = file_unmap,
};

/* MARK: The file system */

static stored_file *find(const char *path, faulty_disk **found) {
    stored_file *file = NULL;
    if (!path) return NULL;
    pthread_mutex_lock(&lock);
    for (faulty_disk *disk = disks; disk && !file; disk = disk->next) {
        size_t length = strlen(disk->path);
        if (strncmp(path, disk->path, length) != 0) continue;
        for (int index = 0; index < FILES; index++) {
            if (strcmp(path + length, suffixes[index]) != 0) continue;
            file = &disk->files[index];
            *found = disk;
        }
    }
    pthread_mutex_unlock(&lock);
    return file;
}

static int vfs_open(sqlite3_vfs *self, sqlite3_filename name, sqlite3_file *base, int flags, int *out_flags) {
    open_file *opened = (open_file *)base;
    faulty_disk *disk = NULL;
    (void)self;
    stored_file *file = find(name, &disk);
    if (!file) return usual->xOpen(usual, name, base, flags, out_flags);
    memset(opened, 0, sizeof *opened);
    if (!file->exists && !(flags & SQLITE_OPEN_CREATE)) return SQLITE_CANTOPEN;
    file->exists = 1;
    opened->base.pMethods = &methods;
    opened->disk = disk;
    opened->file = file;
    if (out_flags) *out_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *self, const char *name, int syncs_folder) {
    faulty_disk *disk = NULL;
    (void)self;
    stored_file *file = find(name, &disk);
    if (!file) return usual->xDelete(usual, name, syncs_folder);
    empty(file);
    return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *self, const char *name, int flags, int *result) {
    faulty_disk *disk = NULL;
    (void)self;
    const stored_file *file = find(name, &disk);
    if (!file) return usual->xAccess(usual, name, flags, result);
    *result = file->exists;
    return SQLITE_OK;
}

static int register_vfs(void) {
    int rc = SQLITE_OK;
    pthread_mutex_lock(&lock);
    if (!usual) {
        usual = sqlite3_vfs_find(NULL);
        rc = usual ? SQLITE_OK : SQLITE_ERROR;
    }
    if (rc == SQLITE_OK && !vfs.zName) {
        /* Everything but what is replaced is the usual one's, which gets itself as an argument where it matters. */
        vfs = *usual;
        vfs.zName = "faulty";
        vfs.pNext = NULL;
        if (vfs.szOsFile < (int)sizeof(open_file)) vfs.szOsFile = sizeof(open_file);
        vfs.xOpen = vfs_open;
        vfs.xDelete = vfs_delete;
        vfs.xAccess = vfs_access;
        rc = sqlite3_vfs_register(&vfs, 1);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

faulty_disk *faulty_disk_create(const char *path) {
    if (register_vfs() != SQLITE_OK) return NULL;
    faulty_disk *disk = calloc(1, sizeof *disk);
    if (!disk) return NULL;
    disk->path = strdup(path);
    for (int index = 0; index < FILES; index++) disk->files[index].last = &disk->files[index].first;
    pthread_mutex_lock(&lock);
    disk->next = disks;
    disks = disk;
    pthread_mutex_unlock(&lock);
    return disk;
}

void faulty_disk_destroy(faulty_disk *disk) {
    pthread_mutex_lock(&lock);
    for (faulty_disk **link = &disks; *link; link = &(*link)->next) {
        if (*link != disk) continue;
        *link = disk->next;
        break;
    }
    pthread_mutex_unlock(&lock);
    for (int index = 0; index < FILES; index++) empty(&disk->files[index]);
    for (int region = 0; region < REGIONS; region++) free(disk->regions[region]);
    free(disk->path);
    free(disk);
}

void faulty_disk_set_hook(faulty_disk *disk, faulty_hook hook, void *context) {
    disk->hook = hook;
    disk->context = context;
}

void faulty_disk_ignore_synchronous(faulty_disk *disk) { disk->ignores_synchronous = 1; }

long faulty_disk_syncs(const faulty_disk *disk) { return disk->syncs; }

long faulty_disk_image(
    faulty_disk *disk, const char *suffix, int mode, unsigned long long seed, unsigned char **bytes) {
    const stored_file *file = NULL;
    for (int index = 0; index < FILES; index++) {
        if (strcmp(suffix, suffixes[index]) == 0) file = &disk->files[index];
    }
    if (!file || !file->exists) return -1;
    buffer image = {0};
    int rc = put(&image, 0, file->durable.bytes, (int)file->durable.length);
    for (const change *one = file->first; one && rc == SQLITE_OK && mode != FAULTY_LOSE_ALL; one = one->next) {
        unsigned long long choice = roll(&seed) % (mode == FAULTY_TEAR ? 3 : 2);
        if (choice == 1) rc = apply(&image, one);
        if (choice == 2 && one->data) rc = apply_torn(&image, one, &seed);
    }
    if (rc != SQLITE_OK) {
        free(image.bytes);
        return -1;
    }
    *bytes = image.bytes;
    return (long)image.length;
}
