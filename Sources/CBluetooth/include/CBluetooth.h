#pragma once

// What Swift cannot take from the kernel's Bluetooth interface and libbluetooth by itself: addresses of sockets, request
// numbers and macros. Each item says why it is here.

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <bluetooth/bluetooth.h>

#include "CBluetoothLinks.h"
#include "CBluetoothManagement.h"
