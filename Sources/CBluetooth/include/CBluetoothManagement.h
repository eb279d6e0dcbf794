#pragma once

// The management channel of the kernel's Bluetooth, and what looks after adapters.

// A socket on the management channel: AF_BLUETOOTH, sockaddr_hci and HCI_CHANNEL_CONTROL come from a header that Swift
// cannot import whole (bit fields and flexible arrays). It neither blocks nor survives an exec. -1 and errno when that
// fails: EAFNOSUPPORT or EPROTONOSUPPORT where the kernel has no Bluetooth.
int cb_open_management(void);

// USBDEVFS_RESET is an _IO macro, which Swift does not import. Resets the USB device whose node is open, as if it were
// unplugged and plugged in. 0; -1 and errno when that fails. May wait for the device for seconds.
int cb_reset_usb(int fd);
