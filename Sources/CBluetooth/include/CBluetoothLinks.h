#pragma once

// Sockets to meters. Their addresses are packed structs inside unions of macros, and libbluetooth's SDP client is made
// of callbacks and lists that it owns: both are C's business.

#include <stdint.h>

// Addresses are six bytes, least significant first, as Bluetooth has them.

// An L2CAP socket for the attribute protocol (fixed channel 4) that is connected or on its way; it neither blocks nor
// survives an exec. -1 and errno when that fails.
int cb_connect_att(const uint8_t adapter[6], const uint8_t meter[6], int is_random);

// An RFCOMM socket that is connected or on its way; as above.
int cb_connect_rfcomm(const uint8_t adapter[6], const uint8_t meter[6], uint8_t channel);

// Asks the meter on which RFCOMM channel its serial port is, by SDP. Waits for that, at most `limit_ms`, or until
// `cancel` has bytes or is closed at its other end; -1: it cannot be cancelled. 1 to 30: the channel; 0: it has no serial
// port, or none that it tells of; -1 and errno when it could not be asked: ETIMEDOUT after the limit, ECANCELED.
int cb_find_serial_port(const uint8_t adapter[6], const uint8_t meter[6], int limit_ms, int cancel);

// The channel in what SDP answers, a sequence of service records; 0 where there is none. For tests.
int cb_serial_port_in(const uint8_t *records, int size);
