/* Lets btvirt run where the kernel has no cryptography sockets (AF_ALG), as in many containers. btvirt opens one for its
 * LE controllers, for encryption and resolvable addresses, which the laboratory does not use; it gets an idle socket. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>

int socket(int domain, int type, int protocol) {
    int (*real)(int, int, int) = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
    return domain == AF_ALG ? real(AF_UNIX, SOCK_SEQPACKET, 0) : real(domain, type, protocol);
}

int bind(int descriptor, const struct sockaddr *address, socklen_t length) {
    int (*real)(int, const struct sockaddr *, socklen_t) =
        (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "bind");
    return address->sa_family == AF_ALG ? 0 : real(descriptor, address, length);
}
