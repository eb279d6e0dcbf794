#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hidraw.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

const int cl_epoll_cloexec = EPOLL_CLOEXEC;
const int cl_eventfd_flags = EFD_CLOEXEC | EFD_NONBLOCK;
const int cl_timerfd_flags = TFD_CLOEXEC | TFD_NONBLOCK;
const int cl_timerfd_absolute = TFD_TIMER_ABSTIME;
const unsigned int cl_epoll_edge = EPOLLET;
const unsigned int cl_epoll_in = EPOLLIN;
const unsigned int cl_epoll_out = EPOLLOUT;
const unsigned int cl_epoll_err = EPOLLERR;
const unsigned int cl_epoll_hup = EPOLLHUP;

struct epoll_event cl_epoll_event(unsigned int events, unsigned long long data) {
    struct epoll_event event = {.events = events, .data.u64 = data};
    return event;
}

unsigned long long cl_epoll_data(const struct epoll_event *event) { return event->data.u64; }

int cl_open_pty_master(void) {
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (master < 0) return -1;
    if (grantpt(master) == 0 && unlockpt(master) == 0) return master;
    int reason = errno;
    close(master);
    errno = reason;
    return -1;
}

int cl_pty_slave_name(int master, char *buffer, size_t size) { return ptsname_r(master, buffer, size); }

int cl_tty_is_exclusive(int fd) {
    int exclusive = 0;
    return ioctl(fd, TIOCGEXCL, &exclusive) == 0 && exclusive != 0;
}

int cl_is_pty_slave(int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISCHR(status.st_mode)) return 0;
    return major(status.st_rdev) >= 136 && major(status.st_rdev) <= 143;
}

int cl_is_character_device(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISCHR(status.st_mode);
}

int cl_is_symlink(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

int cl_exists(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0;
}

void cl_name_this_thread(const char *name) {
    char shortened[16];
    strncpy(shortened, name, sizeof shortened - 1);
    shortened[sizeof shortened - 1] = 0;
    pthread_setname_np(pthread_self(), shortened);
}

int cl_open_route_socket(void) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return -1;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
    };
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

int cl_clock_is_synchronised(void) {
    struct timex state = {.modes = 0};
    int answer = adjtimex(&state);
    return answer == -1 ? -1 : answer != TIME_ERROR;
}

int cl_hidraw_info(int fd, struct cl_hid_device *device) {
    struct hidraw_devinfo info;
    if (ioctl(fd, HIDIOCGRAWINFO, &info) < 0) return -1;
    device->bus = info.bustype;
    device->vendor = (unsigned short)info.vendor;
    device->product = (unsigned short)info.product;
    return 0;
}

void cl_give_back_freed_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

int cl_spawn_apart(posix_spawn_file_actions_t *actions) {
    int code = posix_spawn_file_actions_addchdir_np(actions, "/");
    return code ? code : posix_spawn_file_actions_addclosefrom_np(actions, 3);
}
