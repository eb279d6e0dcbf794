#include "CLinux.h"

#include <linux/usbdevice_fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

struct cl_usb_transfer {
    unsigned char *bytes;
    size_t capacity;
    // Last, because it ends in an array without a length.
    struct usbdevfs_urb urb;
};

struct cl_usb_transfer *cl_usb_transfer_new(unsigned char endpoint, size_t capacity) {
    struct cl_usb_transfer *transfer = calloc(1, sizeof *transfer);
    if (!transfer) return NULL;
    transfer->bytes = calloc(1, capacity);
    if (!transfer->bytes) {
        free(transfer);
        return NULL;
    }
    transfer->capacity = capacity;
    transfer->urb.type = USBDEVFS_URB_TYPE_BULK;
    transfer->urb.endpoint = endpoint;
    transfer->urb.buffer = transfer->bytes;
    transfer->urb.usercontext = transfer;
    return transfer;
}

void cl_usb_transfer_free(struct cl_usb_transfer *transfer) {
    free(transfer->bytes);
    free(transfer);
}

void *cl_usb_transfer_bytes(struct cl_usb_transfer *transfer) { return transfer->bytes; }

size_t cl_usb_transfer_count(const struct cl_usb_transfer *transfer) {
    size_t count = transfer->urb.actual_length < 0 ? 0 : (size_t)transfer->urb.actual_length;
    return count < transfer->capacity ? count : transfer->capacity;
}

int cl_usb_transfer_error(const struct cl_usb_transfer *transfer) { return -transfer->urb.status; }

int cl_usb_submit(int fd, struct cl_usb_transfer *transfer, size_t count) {
    transfer->urb.buffer_length = (int)(count < transfer->capacity ? count : transfer->capacity);
    transfer->urb.actual_length = 0;
    transfer->urb.status = 0;
    return ioctl(fd, USBDEVFS_SUBMITURB, &transfer->urb);
}

struct cl_usb_transfer *cl_usb_reap(int fd) {
    struct usbdevfs_urb *urb = NULL;
    return ioctl(fd, USBDEVFS_REAPURBNDELAY, &urb) == 0 && urb ? urb->usercontext : NULL;
}

int cl_usb_driver(int fd, unsigned int interface, char *name, size_t size) {
    struct usbdevfs_getdriver asked = {.interface = interface};
    if (ioctl(fd, USBDEVFS_GETDRIVER, &asked) < 0) return -1;
    if (size == 0) return 0;
    strncpy(name, asked.driver, size - 1);
    name[size - 1] = 0;
    return 0;
}

int cl_usb_claim(int fd, unsigned int interface) { return ioctl(fd, USBDEVFS_CLAIMINTERFACE, &interface); }

int cl_usb_clear_halt(int fd, unsigned int endpoint) { return ioctl(fd, USBDEVFS_CLEAR_HALT, &endpoint); }
