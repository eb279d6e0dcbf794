import CLinux

/// What the kernel tells of a Wi-Fi interface.
package enum WirelessLink {
    /// The middle of its channel in MHz; nil where it is on none, or does not say. Asks through the wireless extensions,
    /// whose question takes no right (Linux net/wireless/wext-core.c, `wext_permission_check`); kernels may be without.
    package static func frequency(of interface: String) -> Int? {
        let frequency = cl_wireless_frequency(interface)
        return frequency > 0 ? Int(frequency) : nil
    }
}
