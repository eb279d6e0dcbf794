#pragma once

// The kernel's Bluetooth management channel, and resets of adapters.

// Opens a socket on the management channel: non-blocking, close-on-exec. -1 and errno on failure; EAFNOSUPPORT or
// EPROTONOSUPPORT if the kernel has no Bluetooth. AF_BLUETOOTH, sockaddr_hci and HCI_CHANNEL_CONTROL come from a header
// that Swift cannot import whole (bit fields and flexible arrays).
int cb_open_management(void);

// Resets the USB device whose node is open, as if it were unplugged and plugged in. Returns 0; -1 and errno on failure.
// May wait for seconds. USBDEVFS_RESET is an _IO macro, which Swift does not import.
int cb_reset_usb(int fd);
