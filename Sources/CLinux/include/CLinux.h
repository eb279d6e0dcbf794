#pragma once

// What Swift's Glibc module does not import, and nothing else. Each item says why it is here.

#include <spawn.h>
#include <stddef.h>
// Not part of the Glibc module map at all: epoll, eventfd and timerfd. Functions and structs import as they are.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

// These flags are enumerators and mixed macros, which Swift sees as several unrelated types.
extern const int cl_epoll_cloexec;
extern const int cl_eventfd_flags;
extern const int cl_timerfd_flags;
extern const int cl_timerfd_absolute;
extern const unsigned int cl_epoll_edge;
extern const unsigned int cl_epoll_in;
extern const unsigned int cl_epoll_out;
extern const unsigned int cl_epoll_err;
extern const unsigned int cl_epoll_hup;

// `epoll_event` is packed and its `data` is a union; reading and writing the 64-bit member in C keeps Swift from
// taking the address of an unaligned field.
struct epoll_event cl_epoll_event(unsigned int events, unsigned long long data);
unsigned long long cl_epoll_data(const struct epoll_event *event);

// posix_openpt, grantpt, unlockpt and ptsname_r are declared only under _GNU_SOURCE, which the Glibc module is built
// without. Opens a master that neither blocks nor survives an exec; -1 and errno when that fails.
int cl_open_pty_master(void);
// 0, or an errno value.
int cl_pty_slave_name(int master, char *buffer, size_t size);

// TIOCGEXCL is an _IOR macro, which Swift does not import. 1: somebody has the terminal for himself; 0: not, or
// unknown.
int cl_tty_is_exclusive(int fd);
// 1: a pseudo-terminal's slave (major numbers 136 to 143). `major` is a function-like macro.
int cl_is_pty_slave(int fd);

// S_ISCHR and S_ISLNK are function-like macros. 1 or 0; 0 too when there is nothing at the path.
int cl_is_character_device(const char *path);
int cl_is_symlink(const char *path);
// Anything at all at the path, even a dangling link.
int cl_exists(const char *path);

// pthread_setname_np needs _GNU_SOURCE. At most 15 bytes of the name are used.
void cl_name_this_thread(const char *name);

// posix_spawn_file_actions_addchdir_np and …_addclosefrom_np need _GNU_SOURCE. The program begins in "/", and has no open
// file but 0, 1 and 2. 0, or an errno value.
int cl_spawn_apart(posix_spawn_file_actions_t *actions);

// malloc_trim is not part of the Glibc module map. Does nothing with another C library.
void cl_give_back_freed_memory(void);

// The netlink headers are not part of the Glibc module map. A socket that hears of every change of links, addresses
// and routes in the network namespace of the calling thread; it neither blocks nor survives an exec. -1 and errno when
// that fails.
int cl_open_route_socket(void);

// adjtimex is not part of the Glibc module map. 1: something keeps the wall clock right; 0: nothing does; -1 and errno
// when the kernel does not say.
int cl_clock_is_synchronised(void);

// The HIDIOC… ioctls are _IOR macros. What a raw HID node leads to; -1 and errno where it is something else.
struct cl_hid_device {
    unsigned int bus;  // BUS_USB is 3 (linux/input.h)
    unsigned short vendor;
    unsigned short product;
};
int cl_hidraw_info(int fd, struct cl_hid_device *device);

// The USBDEVFS_… ioctls are macros, and a transfer ends in an array without a length (linux/usbdevice_fs.h). One bulk
// transfer; free it only once it has been reaped, or was never submitted.
struct cl_usb_transfer;
struct cl_usb_transfer *cl_usb_transfer_new(unsigned char endpoint, size_t capacity);
void cl_usb_transfer_free(struct cl_usb_transfer *transfer);
void *cl_usb_transfer_bytes(struct cl_usb_transfer *transfer);
// Of a transfer that was reaped: how many bytes went or came, and 0 or an errno value.
size_t cl_usb_transfer_count(const struct cl_usb_transfer *transfer);
int cl_usb_transfer_error(const struct cl_usb_transfer *transfer);
// Towards the device the first `count` bytes, from it so many at most. -1 and errno when that fails.
int cl_usb_submit(int fd, struct cl_usb_transfer *transfer, size_t count);
// One that is done; NULL and errno where there is none (EAGAIN), or the device is gone.
struct cl_usb_transfer *cl_usb_reap(int fd);
// The driver that has an interface; ENODATA where none has.
int cl_usb_driver(int fd, unsigned int interface, char *name, size_t size);
int cl_usb_claim(int fd, unsigned int interface);
int cl_usb_clear_halt(int fd, unsigned int endpoint);

// linux/wireless.h is not part of the Glibc module map. The middle of a Wi-Fi interface's channel in MHz; -1 and errno
// where it has none, or the kernel does not say.
int cl_wireless_frequency(const char *interface);
