#pragma once

// Sockets to meters. In C, because their addresses are packed structs inside unions of macros, and libbluetooth's SDP
// client has callbacks and lists of its own. Swift reads a meter's answer: libbluetooth's reader loops for ever on some
// damaged records.

#include <stdint.h>

// Addresses are six bytes, least significant first.

// Returns a connected or connecting L2CAP socket for the attribute protocol (fixed channel 4): non-blocking,
// close-on-exec. -1 and errno on failure.
int cb_connect_att(const uint8_t adapter[6], const uint8_t meter[6], int is_random);

// Returns a connected or connecting RFCOMM socket, as above.
int cb_connect_rfcomm(const uint8_t adapter[6], const uint8_t meter[6], uint8_t channel);

// Asks the meter by SDP for the protocols of each service record of a serial port. Waits up to `limit_ms`, or until
// `cancel` has bytes or its other end is closed; -1 for no cancellation. Copies as much of the answer as fits into
// `answer`, unread: a sequence of records. Returns the answer's length; -1 and errno on failure: ETIMEDOUT, ECANCELED,
// or EPROTO for an invalid answer.
//
// `left` gets the last reference to the socket, or -1. The caller closes it on a spare thread: some kernels end the
// thread that closes it after the link was lost.
int cb_ask_for_serial_port(
    const uint8_t adapter[6], const uint8_t meter[6], int limit_ms, int cancel, uint8_t *answer, int capacity,
    int *left);
