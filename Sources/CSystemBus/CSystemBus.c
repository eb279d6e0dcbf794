#define _GNU_SOURCE
#include "CSystemBus.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const cs_bus_agent_path = "/meter_gateway/agent";

static const char bluetoothd[] = "org.bluez";
static const char avahi[] = "org.freedesktop.Avahi";
static const char manager_path[] = "/org/bluez";
static const char manager[] = "org.bluez.AgentManager1";

// MARK: libsystemd (systemd's src/systemd/sd-bus.h; symbol versions LIBSYSTEMD_221 to 241)

typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct sd_bus_slot sd_bus_slot;
typedef struct {
    const char *name;
    const char *message;
    int _need_free;
} sd_bus_error;
typedef int (*sd_bus_message_handler_t)(sd_bus_message *, void *, sd_bus_error *);

static struct {
    int (*open_system)(sd_bus **);
    int (*new)(sd_bus **);
    int (*set_address)(sd_bus *, const char *);
    int (*set_client)(sd_bus *, int);
    int (*start)(sd_bus *);
    sd_bus *(*close_unref)(sd_bus *);
    int (*get_fd)(sd_bus *);
    int (*get_events)(sd_bus *);
    int (*get_timeout)(sd_bus *, uint64_t *);
    int (*process)(sd_bus *, sd_bus_message **);
    int (*call_method_async)(
        sd_bus *, sd_bus_slot **, const char *, const char *, const char *, const char *, sd_bus_message_handler_t,
        void *, const char *, ...);
    int (*add_match_async)(
        sd_bus *, sd_bus_slot **, const char *, sd_bus_message_handler_t, sd_bus_message_handler_t, void *);
    int (*add_object)(sd_bus *, sd_bus_slot **, const char *, sd_bus_message_handler_t, void *);
    int (*read)(sd_bus_message *, const char *, ...);
    int (*enter)(sd_bus_message *, char, const char *);
    int (*leave)(sd_bus_message *);
    int (*read_array)(sd_bus_message *, char, const void **, size_t *);
    const sd_bus_error *(*get_error)(sd_bus_message *);
    const char *(*get_sender)(sd_bus_message *);
    const char *(*get_member)(sd_bus_message *);
    int (*is_method_call)(sd_bus_message *, const char *, const char *);
    int (*reply)(sd_bus_message *, const char *, ...);
    int (*reply_error)(sd_bus_message *, const char *, const char *, ...);
} library;

static int is_loaded;

static void load(void) {
    // Never closed: what it keeps for a thread outlives each bus.
    void *handle = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
    const struct {
        const char *name;
        void *place;
    } wanted[] = {
        {"sd_bus_open_system", &library.open_system},
        {"sd_bus_new", &library.new},
        {"sd_bus_set_address", &library.set_address},
        {"sd_bus_set_bus_client", &library.set_client},
        {"sd_bus_start", &library.start},
        {"sd_bus_close_unref", &library.close_unref},
        {"sd_bus_get_fd", &library.get_fd},
        {"sd_bus_get_events", &library.get_events},
        {"sd_bus_get_timeout", &library.get_timeout},
        {"sd_bus_process", &library.process},
        {"sd_bus_call_method_async", &library.call_method_async},
        {"sd_bus_add_match_async", &library.add_match_async},
        {"sd_bus_add_object", &library.add_object},
        {"sd_bus_message_read", &library.read},
        {"sd_bus_message_enter_container", &library.enter},
        {"sd_bus_message_exit_container", &library.leave},
        {"sd_bus_message_read_array", &library.read_array},
        {"sd_bus_message_get_error", &library.get_error},
        {"sd_bus_message_get_sender", &library.get_sender},
        {"sd_bus_message_get_member", &library.get_member},
        {"sd_bus_message_is_method_call", &library.is_method_call},
        {"sd_bus_reply_method_return", &library.reply},
        {"sd_bus_reply_method_errorf", &library.reply_error},
    };
    for (size_t index = 0; index < sizeof wanted / sizeof *wanted; index++) {
        void *found = dlsym(handle, wanted[index].name);
        if (!found) return;
        memcpy(wanted[index].place, &found, sizeof found);
    }
    is_loaded = 1;
}

// MARK: The bus

// Calls that have no answer yet.
enum { calls_max = 128 };

struct call {
    struct cs_bus *bus;
    uint32_t number;
    int is_open;
};

struct cs_bus {
    sd_bus *bus;
    const char *daemon;
    struct cs_bus_listener listener;
    struct call calls[calls_max];
};

static int owner_changed(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    struct cs_bus *bus = data;
    const char *name, *before, *after;
    if (library.read(message, "sss", &name, &before, &after) < 0) return 0;
    bus->listener.owner(bus->listener.context, after);
    return 0;
}

static int owner_told(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    struct cs_bus *bus = data;
    const char *owner = "";
    if (library.get_error(message) || library.read(message, "s", &owner) < 0) owner = "";
    bus->listener.owner(bus->listener.context, owner);
    return 0;
}

// Asked only once the bus watches: no change is missed in between.
static int watches(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)message, (void)error;
    struct cs_bus *bus = data;
    library.call_method_async(
        bus->bus, NULL, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner",
        owner_told, bus, "s", bus->daemon);
    return 0;
}

static int asked(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    struct cs_bus *bus = data;
    const char *member = library.get_member(message), *sender = library.get_sender(message), *device = NULL;
    // Anything else, as what introspects, is the library's.
    if (!member || !sender || library.is_method_call(message, "org.bluez.Agent1", NULL) <= 0) return 0;
    if (library.read(message, "o", &device) < 0) device = NULL;
    char text[17] = "";
    int answer = bus->listener.asked(bus->listener.context, sender, member, device, text);
    text[16] = 0;
    if (answer == cs_bus_text) return library.reply(message, "s", text);
    if (answer == cs_bus_agree) return library.reply(message, "");
    return library.reply_error(message, "org.bluez.Error.Rejected", "no meter of this program's");
}

// Whatever a service browser says, which is to this connection alone.
static int browsed(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    struct cs_bus *bus = data;
    const char *member = library.get_member(message), *sender = library.get_sender(message);
    const char *name = "", *type = "", *domain = "";
    int interface, protocol;
    if (!member || !sender) return 0;
    if (!strcmp(member, "ItemNew") &&
        library.read(message, "iisss", &interface, &protocol, &name, &type, &domain) < 0)
        return 0;
    bus->listener.browsed(bus->listener.context, sender, member, name, domain);
    return 0;
}

static int connect_to(sd_bus **bus, const char *address) {
    if (!address) return library.open_system(bus);
    int result = library.new(bus);
    if (result >= 0) result = library.set_address(*bus, address);
    if (result >= 0) result = library.set_client(*bus, 1);
    return result >= 0 ? library.start(*bus) : result;
}

// What the daemon may call or say, and who is the daemon.
static int listen_to(struct cs_bus *bus) {
    int result = bus->daemon == bluetoothd
                     ? library.add_object(bus->bus, NULL, cs_bus_agent_path, asked, bus)
                     : library.add_match_async(
                           bus->bus, NULL,
                           "type='signal',sender='org.freedesktop.Avahi',"
                           "interface='org.freedesktop.Avahi.ServiceBrowser'",
                           browsed, NULL, bus);
    if (result < 0) return result;
    char rule[256];
    snprintf(
        rule, sizeof rule,
        "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
        "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='%s'",
        bus->daemon);
    return library.add_match_async(bus->bus, NULL, rule, owner_changed, watches, bus);
}

int cs_bus_open(
    struct cs_bus **made, const char *address, enum cs_bus_daemon daemon, const struct cs_bus_listener *listener) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (!is_loaded) return -ELIBACC;
    struct cs_bus *bus = calloc(1, sizeof *bus);
    if (!bus) return -ENOMEM;
    bus->daemon = daemon == cs_bus_bluetoothd ? bluetoothd : avahi;
    bus->listener = *listener;
    int result = connect_to(&bus->bus, address);
    if (result >= 0) result = listen_to(bus);
    if (result < 0) {
        if (bus->bus) library.close_unref(bus->bus);
        free(bus);
        return result;
    }
    *made = bus;
    return 0;
}

void cs_bus_close(struct cs_bus *bus) {
    library.close_unref(bus->bus);
    free(bus);
}

int cs_bus_descriptor(struct cs_bus *bus) { return library.get_fd(bus->bus); }

int cs_bus_events(struct cs_bus *bus) { return library.get_events(bus->bus); }

int64_t cs_bus_wait_ms(struct cs_bus *bus) {
    uint64_t until;
    if (library.get_timeout(bus->bus, &until) < 0 || until == UINT64_MAX) return -1;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t passed = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
    return until > passed ? (int64_t)((until - passed) / 1000) + 1 : 0;
}

int cs_bus_process(struct cs_bus *bus) { return library.process(bus->bus, NULL); }

// MARK: Calls to bluetoothd

static struct call *begin(struct cs_bus *bus, uint32_t number) {
    for (int index = 0; index < calls_max; index++) {
        struct call *call = &bus->calls[index];
        if (call->is_open) continue;
        *call = (struct call){bus, number, 1};
        return call;
    }
    return NULL;
}

static int answered(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    struct call *call = data;
    struct cs_bus *bus = call->bus;
    call->is_open = 0;
    const sd_bus_error *fault = library.get_error(message);
    int value = 0;
    // Only a property's answer has anything in it.
    if (!fault) (void)library.read(message, "v", "b", &value);
    bus->listener.answered(
        bus->listener.context, call->number, fault ? fault->name : NULL, fault && fault->message ? fault->message : "",
        value);
    return 0;
}

static int sent(struct call *call, int result) {
    if (result < 0) call->is_open = 0;
    return result < 0 ? result : 0;
}

int cs_bus_register_agent(struct cs_bus *bus, uint32_t number, const char *capability) {
    struct call *call = begin(bus, number);
    if (!call) return -ENOBUFS;
    return sent(
        call, library.call_method_async(
                  bus->bus, NULL, bluetoothd, manager_path, manager, "RegisterAgent", answered, call, "os",
                  cs_bus_agent_path, capability));
}

static int call_with_path(struct cs_bus *bus, uint32_t number, const char *member) {
    struct call *call = begin(bus, number);
    if (!call) return -ENOBUFS;
    return sent(
        call, library.call_method_async(
                  bus->bus, NULL, bluetoothd, manager_path, manager, member, answered, call, "o", cs_bus_agent_path));
}

int cs_bus_request_default_agent(struct cs_bus *bus, uint32_t number) {
    return call_with_path(bus, number, "RequestDefaultAgent");
}

int cs_bus_unregister_agent(struct cs_bus *bus, uint32_t number) {
    return call_with_path(bus, number, "UnregisterAgent");
}

int cs_bus_get_paired(struct cs_bus *bus, uint32_t number, const char *device) {
    struct call *call = begin(bus, number);
    if (!call) return -ENOBUFS;
    return sent(
        call, library.call_method_async(
                  bus->bus, NULL, bluetoothd, device, "org.freedesktop.DBus.Properties", "Get", answered, call, "ss",
                  "org.bluez.Device1", "Paired"));
}

// MARK: Calls to Avahi (its org.freedesktop.Avahi.Server.xml; defs.h, address.h)

enum { any = -1, no_address = 8 };

int cs_bus_browse(struct cs_bus *bus, uint32_t number, const char *type) {
    struct call *call = begin(bus, number);
    if (!call) return -ENOBUFS;
    return sent(
        call, library.call_method_async(
                  bus->bus, NULL, avahi, "/", "org.freedesktop.Avahi.Server", "ServiceBrowserNew", answered, call,
                  "iissu", any, any, type, "", 0));
}

// The strings of a TXT record, as in DNS: each with its length before it. A string that has no room is left out.
static size_t read_text(sd_bus_message *message, uint8_t *place, size_t room) {
    size_t used = 0, length;
    const void *bytes;
    if (library.enter(message, 'a', "ay") <= 0) return 0;
    while (library.read_array(message, 'y', &bytes, &length) > 0) {
        if (length == 0 || length > 255 || used + 1 + length > room) continue;
        place[used++] = (uint8_t)length;
        memcpy(place + used, bytes, length);
        used += length;
    }
    library.leave(message);
    return used;
}

static int resolved(sd_bus_message *message, void *data, sd_bus_error *error) {
    struct call *call = data;
    struct cs_bus *bus = call->bus;
    const char *name, *type, *domain, *host, *address;
    int interface, protocol, kind;
    uint16_t port;
    uint8_t text[2048];
    if (library.get_error(message) ||
        library.read(
            message, "iissssisq", &interface, &protocol, &name, &type, &domain, &host, &kind, &address, &port) < 0)
        return answered(message, data, error);
    call->is_open = 0;
    size_t length = read_text(message, text, sizeof text);
    bus->listener.resolved(bus->listener.context, call->number, name, host, port, text, length);
    return 0;
}

int cs_bus_resolve(struct cs_bus *bus, uint32_t number, const char *name, const char *type, const char *domain) {
    struct call *call = begin(bus, number);
    if (!call) return -ENOBUFS;
    return sent(
        call, library.call_method_async(
                  bus->bus, NULL, avahi, "/", "org.freedesktop.Avahi.Server", "ResolveService", resolved, call,
                  "iisssiu", any, any, name, type, domain, any, no_address));
}
