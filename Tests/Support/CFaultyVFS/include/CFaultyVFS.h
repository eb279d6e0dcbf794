#ifndef C_FAULTY_VFS_H
#define C_FAULTY_VFS_H

/* A disk for SQLite that forgets, at a power cut, what was not synced: each such write is then lost, kept or torn by
 * itself, so that later ones may be there where earlier ones are not. Only the files of a mounted database lie on it;
 * all others go to SQLite's usual place. One connection at a time may have such a database open. */

typedef struct faulty_disk faulty_disk;

/* What becomes of writes that were not synced. */
enum {
    /* All are lost. */
    FAULTY_LOSE_ALL = 0,
    /* Each is lost or kept. */
    FAULTY_LOSE_SOME = 1,
    /* Each is lost, kept, or kept in some of its 512-byte sectors. */
    FAULTY_TEAR = 2
};

/* Makes a disk for the database at this path, and its log. NULL where SQLite refuses or memory is short. */
faulty_disk *faulty_disk_create(const char *path);
/* The database must be closed. */
void faulty_disk_destroy(faulty_disk *disk);

/* Called before each write, truncation and sync, with their number, from 1. */
typedef void (*faulty_hook)(void *context, long operation);
void faulty_disk_set_hook(faulty_disk *disk, faulty_hook hook, void *context);

/* From now on `PRAGMA synchronous` is obeyed for NORMAL only, and always answered as if it were FULL: what a program
 * would be that only believes it waits for the disk. */
void faulty_disk_ignore_synchronous(faulty_disk *disk);

/* How many syncs there were. */
long faulty_disk_syncs(const faulty_disk *disk);

/* What the file would hold if the power went now. `suffix` is "" or "-wal". The same seed loses the same writes.
 * Returns the length, or -1 where there is no such file or no memory; `*bytes` is to be freed with `free`. */
long faulty_disk_image(
    faulty_disk *disk, const char *suffix, int mode, unsigned long long seed, unsigned char **bytes);

#endif
