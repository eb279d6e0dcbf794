#pragma once

// Sockets to meters. Their addresses are packed structs inside unions of macros, and libbluetooth's SDP client is made
// of callbacks and lists that it owns: both are C's business. What a meter answers is read in Swift, because
// libbluetooth's reader runs for ever on some damaged records.

#include <stdint.h>

// Addresses are six bytes, least significant first, as Bluetooth has them.

// An L2CAP socket for the attribute protocol (fixed channel 4) that is connected or on its way; it neither blocks nor
// survives an exec. -1 and errno when that fails.
int cb_connect_att(const uint8_t adapter[6], const uint8_t meter[6], int is_random);

// An RFCOMM socket that is connected or on its way; as above.
int cb_connect_rfcomm(const uint8_t adapter[6], const uint8_t meter[6], uint8_t channel);

// Asks the meter for its serial port by SDP: the protocols of each service record of that class. Waits for the answer, at
// most `limit_ms`, or until `cancel` has bytes or is closed at its other end; -1: it cannot be cancelled. How long the
// answer is, of which as much as fits was put into `answer`: a sequence of records, not looked into here. -1 and errno
// when the meter could not be asked: ETIMEDOUT after the limit, ECANCELED, EPROTO for what is not an answer.
//
// `left` is the last that holds the socket, -1 for none, and the caller's to close where nobody waits for that: some
// kernels end the thread that closes it after the link was lost.
int cb_ask_for_serial_port(
    const uint8_t adapter[6], const uint8_t meter[6], int limit_ms, int cancel, uint8_t *answer, int capacity,
    int *left);
