#include "CBluetooth.h"

#include <errno.h>
#include <linux/usbdevice_fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <bluetooth/hci.h>

int cb_open_management(void) {
    int fd = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_HCI);
    if (fd < 0) return -1;
    // As large as the system allows: many advertisers must not push out events about the adapter.
    int size = 1 << 20;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    struct sockaddr_hci address;
    memset(&address, 0, sizeof address);
    address.hci_family = AF_BLUETOOTH;
    address.hci_dev = HCI_DEV_NONE;
    address.hci_channel = HCI_CHANNEL_CONTROL;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

int cb_reset_usb(int fd) { return ioctl(fd, USBDEVFS_RESET, 0); }
