/// Divides a process's file descriptors, so that many clients cannot take those of the meters.
package struct DescriptorBudget: Hashable, Sendable {
    /// Descriptors reserved for meters: serial ports, radio links, pseudo-terminals.
    package static let meters = 64
    /// Descriptors reserved for the program itself: two stores, event loops, control connections, an MQTT broker. A
    /// meterd that serves its cloud has about 60 open.
    package static let own = 96
    /// Maximum number of the cloud's connections, to limit their memory.
    private static let connectionsMost = 16_384
    private static let pageMost = 512

    package let page: Int
    package let cloud: Int

    /// - Parameters:
    ///   - descriptors: the process's limit; nil if unknown, which counts as 1024.
    ///   - hasPage: whether a web page shares the descriptors.
    package init(descriptors: UInt64?, hasPage: Bool) {
        let limit = Int(clamping: min(descriptors ?? 1024, 1 << 20))
        let rest = max(2, limit - Self.meters - Self.own)
        page = hasPage ? max(1, min(Self.pageMost, rest / 4)) : 0
        cloud = max(1, min(Self.connectionsMost, rest - page))
    }

    /// Returns the limits of the cloud's port.
    ///
    /// - Parameter perAddress: limit per address. Loopback and each proxy get eight times as many, and so do all
    ///   unidentified connections together. If half of the unidentified ones set up TLS, they use about 30 MB.
    package func cloudBounds(perAddress: Int) -> ConnectionBounds {
        ConnectionBounds(
            all: cloud, perAddress: perAddress, perTrustedAddress: perAddress * 8, strangers: min(perAddress * 8, cloud)
        )
    }
}
