#define _GNU_SOURCE
#include "CBluetoothLinks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <bluetooth/bluetooth.h>
#include <bluetooth/l2cap.h>
#include <bluetooth/rfcomm.h>
#include <bluetooth/sdp.h>
#include <bluetooth/sdp_lib.h>

enum { att_channel = 4 };

// Binds to the adapter and starts to connect. Takes over the socket.
static int begin(int fd, const struct sockaddr *own, const struct sockaddr *peer, socklen_t size) {
    if (fd < 0) return -1;
    if (bind(fd, own, size) == 0 && (connect(fd, peer, size) == 0 || errno == EINPROGRESS)) return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

int cb_connect_att(const uint8_t adapter[6], const uint8_t meter[6], int is_random) {
    struct sockaddr_l2 own = {
        .l2_family = AF_BLUETOOTH, .l2_cid = htobs(att_channel), .l2_bdaddr_type = BDADDR_LE_PUBLIC};
    struct sockaddr_l2 peer = {
        .l2_family = AF_BLUETOOTH,
        .l2_cid = htobs(att_channel),
        .l2_bdaddr_type = is_random ? BDADDR_LE_RANDOM : BDADDR_LE_PUBLIC};
    memcpy(&own.l2_bdaddr, adapter, 6);
    memcpy(&peer.l2_bdaddr, meter, 6);
    int fd = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, BTPROTO_L2CAP);
    return begin(fd, (const struct sockaddr *)&own, (const struct sockaddr *)&peer, sizeof peer);
}

int cb_connect_rfcomm(const uint8_t adapter[6], const uint8_t meter[6], uint8_t channel) {
    struct sockaddr_rc own = {.rc_family = AF_BLUETOOTH};
    struct sockaddr_rc peer = {.rc_family = AF_BLUETOOTH, .rc_channel = channel};
    memcpy(&own.rc_bdaddr, adapter, 6);
    memcpy(&peer.rc_bdaddr, meter, 6);
    int fd = socket(AF_BLUETOOTH, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, BTPROTO_RFCOMM);
    return begin(fd, (const struct sockaddr *)&own, (const struct sockaddr *)&peer, sizeof peer);
}

// MARK: SDP

struct search {
    uint8_t *answer;
    int capacity;
    // -1 without an answer.
    int length;
};

static void answered(uint8_t type, uint16_t status, uint8_t *records, size_t size, void *data) {
    struct search *search = data;
    if (status != 0 || type != SDP_SVC_SEARCH_ATTR_RSP || size > INT_MAX) return;
    search->length = (int)size;
    if (size > 0) memcpy(search->answer, records, (int)size < search->capacity ? size : (size_t)search->capacity);
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Returns 0 once the socket is ready; -1 and errno after cancellation or timeout.
static int await(int fd, short events, int64_t deadline, int cancel) {
    while (1) {
        int64_t left = deadline - now_ms();
        struct pollfd waits[2] = {{.fd = fd, .events = events}, {.fd = cancel, .events = POLLIN}};
        int count = poll(waits, 2, left > 0 ? (int)left : 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        if (waits[1].revents) return errno = ECANCELED, -1;
        if (waits[0].revents) return 0;
        if (left <= 0) return errno = ETIMEDOUT, -1;
    }
}

static int await_connection(int fd, int64_t deadline, int cancel) {
    if (await(fd, POLLOUT, deadline, cancel) != 0) return -1;
    int reason = 0;
    socklen_t size = sizeof reason;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &reason, &size) != 0) return -1;
    if (reason == 0) return 0;
    errno = reason;
    return -1;
}

// Sends the request and takes the answer, which may come in several parts.
static int ask(sdp_session_t *session, struct search *search, int64_t deadline, int cancel) {
    uuid_t serial_port;
    uint16_t attribute = SDP_ATTR_PROTO_DESC_LIST;
    sdp_uuid16_create(&serial_port, SERIAL_PORT_SVCLASS_ID);
    sdp_list_t *services = sdp_list_append(NULL, &serial_port);
    sdp_list_t *attributes = sdp_list_append(NULL, &attribute);
    int result = sdp_set_notify(session, answered, search);
    if (result == 0)
        result = sdp_service_search_attr_async(session, services, SDP_ATTR_REQ_INDIVIDUAL, attributes);
    sdp_list_free(services, NULL);
    sdp_list_free(attributes, NULL);
    if (result != 0) return errno = EPROTO, -1;
    int fd = sdp_get_socket(session);
    do {
        if (await(fd, POLLIN, deadline, cancel) != 0) return -1;
        // 0: more is to come. Otherwise `answered` was called, unless there was an error.
    } while (sdp_process(session) == 0);
    if (search->length < 0) return errno = EPROTO, -1;
    return search->length;
}

int cb_ask_for_serial_port(
    const uint8_t adapter[6], const uint8_t meter[6], int limit_ms, int cancel, uint8_t *answer, int capacity,
    int *left) {
    *left = -1;
    bdaddr_t own, peer;
    memcpy(&own, adapter, 6);
    memcpy(&peer, meter, 6);
    int64_t deadline = now_ms() + limit_ms;
    sdp_session_t *session = sdp_connect(&own, &peer, SDP_NON_BLOCKING);
    if (!session) return -1;
    struct search search = {answer, capacity, -1};
    int result = await_connection(sdp_get_socket(session), deadline, cancel);
    if (result == 0) result = ask(session, &search, deadline, cancel);
    int reason = errno;
    *left = fcntl(sdp_get_socket(session), F_DUPFD_CLOEXEC, 0);
    sdp_close(session);
    errno = reason;
    return result;
}
