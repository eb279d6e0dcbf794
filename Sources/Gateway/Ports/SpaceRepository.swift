package protocol SpaceRepository: Sendable {
    /// Returns the store's size and its largest part; nil if the store, including its readings, fits into `maxBytes`.
    func crowding(maxBytes: Int64) async throws -> DiskUsage?
}

/// Size of a store above its limit, and its largest part besides single readings and one-second aggregates.
package struct DiskUsage: Hashable, Sendable {
    package var part: String
    package var partBytes: Int64
    package var usedBytes: Int64
    package var maxBytes: Int64

    package init(part: String, partBytes: Int64, usedBytes: Int64, maxBytes: Int64) {
        self.part = part
        self.partBytes = partBytes
        self.usedBytes = usedBytes
        self.maxBytes = maxBytes
    }
}

extension DiskUsage: CustomStringConvertible {
    package var description: String {
        "\(part) take \(Self.megabytes(partBytes)) MB of the \(Self.megabytes(usedBytes)) MB in use, where "
            + "max-megabytes allows \(Self.megabytes(maxBytes)) MB; readings keep half of that"
    }

    private static func megabytes(_ bytes: Int64) -> String {
        let tenths = bytes / (1 << 20) * 10 + bytes % (1 << 20) * 10 / (1 << 20)
        return "\(tenths / 10).\(tenths % 10)"
    }
}
