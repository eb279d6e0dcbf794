#pragma once

// bluetoothd and Avahi on the system bus, through libsystemd's sd-bus. The library is looked for at run time, so that
// nothing links against it and a machine without it works without an agent and without Avahi. Its functions for
// messages take variable arguments, which Swift cannot call. Declared by hand in the C file: its interface is versioned
// and does not change.

#include <stddef.h>
#include <stdint.h>

struct cs_bus;

// Whom a connection is for.
enum cs_bus_daemon { cs_bus_bluetoothd, cs_bus_avahi };

// What is called from within `cs_bus_process` and from nowhere else. Texts are valid during the call.
struct cs_bus_listener {
    void *context;
    // The daemon's own name on the bus, empty where it is not there: once at the start, and at each change.
    void (*owner)(void *context, const char *owner);
    // A call was answered, after which its number means nothing any more. `error` is NULL where it succeeded, `value` is
    // what a property was found to be: 1 or 0.
    void (*answered)(void *context, uint32_t number, const char *error, const char *message, int value);
    // bluetoothd, or whoever `sender` is, asks the agent. `device` is NULL where the question names none. What it is told:
    // cs_bus_reject, cs_bus_agree, or cs_bus_text and a text in `text`.
    int (*asked)(void *context, const char *sender, const char *member, const char *device, char text[17]);
    // A signal of Avahi's ServiceBrowser, or of whoever `sender` is. Only ItemNew has a name and a domain.
    void (*browsed)(void *context, const char *sender, const char *member, const char *name, const char *domain);
    // `cs_bus_resolve` succeeded, in place of `answered`. `text` is the service's TXT record as in DNS.
    void (*resolved)(
        void *context, uint32_t number, const char *name, const char *host, uint16_t port, const uint8_t *text,
        size_t length);
};

enum { cs_bus_reject = 0, cs_bus_agree = 1, cs_bus_text = 2 };

// Where the agent is found: the path of its object.
extern const char *const cs_bus_agent_path;

// Connects to the system bus, or to the one at an address of D-Bus's. 0, or a negative errno: -ELIBACC where there is no
// libsystemd.
int cs_bus_open(
    struct cs_bus **bus, const char *address, enum cs_bus_daemon daemon, const struct cs_bus_listener *listener);
void cs_bus_close(struct cs_bus *bus);

int cs_bus_descriptor(struct cs_bus *bus);
// What to wait for, as poll(2) has it, and for how many milliseconds at most; -1: for ever.
int cs_bus_events(struct cs_bus *bus);
int64_t cs_bus_wait_ms(struct cs_bus *bus);
// Does what is to be done now. Positive: call it again; negative: the bus is lost.
int cs_bus_process(struct cs_bus *bus);

// Calls to bluetoothd. Each returns at once: 0 and `answered` with that number later, or a negative errno.
int cs_bus_register_agent(struct cs_bus *bus, uint32_t number, const char *capability);
int cs_bus_request_default_agent(struct cs_bus *bus, uint32_t number);
int cs_bus_unregister_agent(struct cs_bus *bus, uint32_t number);
// Whether a device is paired.
int cs_bus_get_paired(struct cs_bus *bus, uint32_t number, const char *device);

// Calls to Avahi, in the same way.
//
// Looks for services of a type, as `_esphomelib._tcp`, until the connection ends.
int cs_bus_browse(struct cs_bus *bus, uint32_t number, const char *type);
// Asks where a service is, and not for its address.
int cs_bus_resolve(struct cs_bus *bus, uint32_t number, const char *name, const char *type, const char *domain);
