#pragma once

// bluetoothd on the system bus, through libsystemd's sd-bus. The library is looked for at run time, so that nothing links
// against it and a machine without it works without an agent; and its functions for messages take variable arguments,
// which Swift cannot call. Declared by hand in the C file: its interface is versioned and does not change.

#include <stdint.h>

struct cb_bus;

// What is called from within `cb_bus_process` and from nowhere else. Texts are valid during the call.
struct cb_bus_listener {
    void *context;
    // bluetoothd's own name on the bus, empty where it is not there: once at the start, and at each change.
    void (*owner)(void *context, const char *owner);
    // A call was answered, after which its number means nothing any more. `error` is NULL where it succeeded, `value` is
    // what a property was found to be: 1 or 0.
    void (*answered)(void *context, uint32_t number, const char *error, const char *message, int value);
    // bluetoothd, or whoever `sender` is, asks the agent. `device` is NULL where the question names none. What it is told:
    // cb_bus_reject, cb_bus_agree, or cb_bus_text and a text in `text`.
    int (*asked)(void *context, const char *sender, const char *member, const char *device, char text[17]);
};

enum { cb_bus_reject = 0, cb_bus_agree = 1, cb_bus_text = 2 };

// Where the agent is found: the path of its object.
extern const char *const cb_bus_agent_path;

// Connects to the system bus, or to the one at an address of D-Bus's. 0, or a negative errno: -ELIBACC where there is no
// libsystemd.
int cb_bus_open(struct cb_bus **bus, const char *address, const struct cb_bus_listener *listener);
void cb_bus_close(struct cb_bus *bus);

int cb_bus_descriptor(struct cb_bus *bus);
// What to wait for, as poll(2) has it, and for how many milliseconds at most; -1: for ever.
int cb_bus_events(struct cb_bus *bus);
int64_t cb_bus_wait_ms(struct cb_bus *bus);
// Does what is to be done now. Positive: call it again; negative: the bus is lost.
int cb_bus_process(struct cb_bus *bus);

// Calls to bluetoothd. Each returns at once: 0 and `answered` with that number later, or a negative errno.
int cb_bus_register_agent(struct cb_bus *bus, uint32_t number, const char *capability);
int cb_bus_request_default_agent(struct cb_bus *bus, uint32_t number);
int cb_bus_unregister_agent(struct cb_bus *bus, uint32_t number);
// Whether a device is paired.
int cb_bus_get_paired(struct cb_bus *bus, uint32_t number, const char *device);
