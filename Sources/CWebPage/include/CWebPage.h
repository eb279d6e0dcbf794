#pragma once

#include <stddef.h>

/// One file of the web page, in the program's read-only data.
struct web_page_file {
    /// Name in Sources/GatewayServer/Page, such as "app.js". Null after the last file.
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// Returns the file with this number, counted from 0.
struct web_page_file web_page_file(size_t number);
