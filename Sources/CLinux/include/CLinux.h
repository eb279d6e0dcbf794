#pragma once

// Parts of Linux that Swift's Glibc module does not import. Each item states its reason.

#include <spawn.h>
#include <stddef.h>
// The Glibc module map lacks epoll, eventfd and timerfd. Functions and structs import as they are.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

// Enumerators and mixed macros, which Swift sees as several unrelated types.
extern const int cl_epoll_cloexec;
extern const int cl_eventfd_flags;
extern const int cl_timerfd_flags;
extern const int cl_timerfd_absolute;
extern const unsigned int cl_epoll_edge;
extern const unsigned int cl_epoll_in;
extern const unsigned int cl_epoll_out;
extern const unsigned int cl_epoll_err;
extern const unsigned int cl_epoll_hup;

// `epoll_event` is packed and its `data` is a union. Access in C keeps Swift from taking the address of an unaligned
// field.
struct epoll_event cl_epoll_event(unsigned int events, unsigned long long data);
unsigned long long cl_epoll_data(const struct epoll_event *event);

// Opens a master: non-blocking, close-on-exec; -1 and errno on failure. posix_openpt, grantpt, unlockpt and ptsname_r
// need _GNU_SOURCE, which the Glibc module lacks.
int cl_open_pty_master(void);
// Returns 0, or an errno value.
int cl_pty_slave_name(int master, char *buffer, size_t size);

// Returns 1 if a program has the terminal exclusively; 0 if not, or unknown. TIOCGEXCL is an _IOR macro.
int cl_tty_is_exclusive(int fd);
// Returns 1 for a pseudo-terminal's slave (major numbers 136 to 143). `major` is a function-like macro.
int cl_is_pty_slave(int fd);

// Return 1 or 0; 0 also if the path does not exist. S_ISCHR and S_ISLNK are function-like macros.
int cl_is_character_device(const char *path);
int cl_is_symlink(const char *path);
// Returns 1 if the path exists, even as a dangling link.
int cl_exists(const char *path);

// Uses at most 15 bytes of the name. pthread_setname_np needs _GNU_SOURCE.
void cl_name_this_thread(const char *name);

// The program starts in "/" with only files 0, 1 and 2 open. Returns 0, or an errno value.
// posix_spawn_file_actions_addchdir_np and …_addclosefrom_np need _GNU_SOURCE.
int cl_spawn_apart(posix_spawn_file_actions_t *actions);

// Does nothing with another C library. The Glibc module map lacks malloc_trim.
void cl_give_back_freed_memory(void);

// Opens a socket for all changes of links, addresses and routes in the calling thread's network namespace:
// non-blocking, close-on-exec. -1 and errno on failure. The Glibc module map lacks the netlink headers.
int cl_open_route_socket(void);

// Returns 1 if a service keeps the wall clock right, 0 if none does; -1 and errno if the kernel does not say. The Glibc
// module map lacks adjtimex.
int cl_clock_is_synchronised(void);

// Ids of a raw HID node; -1 and errno for another kind of node. The HIDIOC… ioctls are _IOR macros.
struct cl_hid_device {
    unsigned int bus;  // BUS_USB is 3 (linux/input.h)
    unsigned short vendor;
    unsigned short product;
};
int cl_hidraw_info(int fd, struct cl_hid_device *device);

// One bulk transfer. Free it only after it was reaped, or if it was never submitted. The USBDEVFS_… ioctls are macros,
// and a transfer ends in an array without a length (linux/usbdevice_fs.h).
struct cl_usb_transfer;
struct cl_usb_transfer *cl_usb_transfer_new(unsigned char endpoint, size_t capacity);
void cl_usb_transfer_free(struct cl_usb_transfer *transfer);
void *cl_usb_transfer_bytes(struct cl_usb_transfer *transfer);
// Of a reaped transfer: number of bytes, and 0 or an errno value.
size_t cl_usb_transfer_count(const struct cl_usb_transfer *transfer);
int cl_usb_transfer_error(const struct cl_usb_transfer *transfer);
// Sends the first `count` bytes, or receives at most `count`. -1 and errno on failure.
int cl_usb_submit(int fd, struct cl_usb_transfer *transfer, size_t count);
// Returns a completed transfer; NULL and errno if there is none (EAGAIN), or the device is gone.
struct cl_usb_transfer *cl_usb_reap(int fd);
// Gets the driver of an interface; ENODATA without a driver.
int cl_usb_driver(int fd, unsigned int interface, char *name, size_t size);
int cl_usb_claim(int fd, unsigned int interface);
int cl_usb_clear_halt(int fd, unsigned int endpoint);

// Returns the centre frequency of a Wi-Fi interface's channel in MHz; -1 and errno if unknown. The Glibc module map
// lacks linux/wireless.h.
int cl_wireless_frequency(const char *interface);
