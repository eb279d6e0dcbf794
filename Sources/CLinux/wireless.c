// A file of its own: the kernel's interface headers and glibc's conflict.
#include "CLinux.h"

#include <errno.h>
#include <linux/wireless.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

// A number without an exponent is a channel number (IEEE 802.11).
static int frequency_of_channel(int channel) {
    if (channel >= 1 && channel <= 13) return 2407 + 5 * channel;
    if (channel == 14) return 2484;
    if (channel >= 32 && channel <= 177) return 5000 + 5 * channel;
    return -1;
}

int cl_wireless_frequency(const char *interface) {
    struct iwreq request;
    memset(&request, 0, sizeof request);
    if (strlen(interface) >= sizeof request.ifr_name) {
        errno = ENODEV;
        return -1;
    }
    strcpy(request.ifr_name, interface);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    int answer = ioctl(fd, SIOCGIWFREQ, &request);
    int reason = errno;
    close(fd);
    errno = reason;
    if (answer < 0) return -1;
    int exponent = request.u.freq.e;
    long long value = request.u.freq.m;
    if (exponent == 0 && value < 1000) return frequency_of_channel((int)value);
    // In Hz, as a number and a power of ten.
    for (; exponent < 6; exponent++) value /= 10;
    for (; exponent > 6 && value < 1000000; exponent--) value *= 10;
    return value > 0 && value < 1000000 ? (int)value : -1;
}
