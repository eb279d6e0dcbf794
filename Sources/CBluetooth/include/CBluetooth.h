#pragma once

// Parts of the kernel's Bluetooth interface and of libbluetooth that Swift cannot import: socket addresses, request
// numbers and macros. Each item states its reason.

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <bluetooth/bluetooth.h>

#include "CBluetoothLinks.h"
#include "CBluetoothManagement.h"
