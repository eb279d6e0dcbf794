package import Domain
import Glibc
package import LinuxIO

/// A link over a socket whose other end a test holds.
package final class SocketLink: DescriptorLink {
    package let framing: Framing
    package let writesBlock: Bool
    package let writeGap: Duration
    package let name = "the test"
    package let remedy = "Do something."
    private let opening: @Sendable () throws(ChannelFailure) -> (FileDescriptor, connectLimit: Duration?)
    private let (hasBegun, reportBegun) = AsyncStream.makeStream(of: Void.self)
    private let (hasEnded, reportEnded) = AsyncStream.makeStream(of: Void.self)

    package init(
        _ descriptor: FileDescriptor, _ framing: Framing, writesBlock: Bool = false, writeGap: Duration = .zero
    ) {
        self.framing = framing
        self.writesBlock = writesBlock
        self.writeGap = writeGap
        opening = { () throws(ChannelFailure) in (descriptor, nil) }
    }

    /// - Parameter opening: returns this end of the socket, and a time limit if the socket is still connecting.
    package init(
        framing: Framing = .packets,
        opening: @escaping @Sendable () throws(ChannelFailure) -> (FileDescriptor, connectLimit: Duration?)
    ) {
        self.framing = framing
        writesBlock = false
        writeGap = .zero
        self.opening = opening
    }

    package func open() throws(ChannelFailure) -> OpenedLink {
        defer { reportBegun.finish() }
        let (descriptor, limit) = try opening()
        let end = End(descriptor: descriptor, ended: reportEnded)
        guard let limit else { return .open(end) }
        return .connecting(end, limit: limit)
    }

    package func failure(connecting reason: Errno) -> ChannelFailure {
        if reason == .timedOut { return ChannelFailure(.unreachable, "the test does not answer (\(reason.code))") }
        return ChannelFailure(.unreachable, "the test: \(reason)")
    }

    package func failure(losing reason: Errno?) -> ChannelFailure {
        ChannelFailure(.lost, "the test: \(reason?.description ?? "it ended")")
    }

    /// Returns once the link has opened or failed to open.
    package func begun() async { for await _ in hasBegun {} }
    package func ended() async { for await _ in hasEnded {} }

    private struct End: LinkEndpoint {
        let descriptor: FileDescriptor
        let ended: AsyncStream<Void>.Continuation

        func close(discardingOutput: Bool) {
            descriptor.close()
            ended.finish()
        }
    }
}

extension ChannelProbe {
    package convenience init(_ link: SocketLink, on loop: IOLoop, stallLimit: Duration = .seconds(3600)) async throws {
        try await self.init(on: loop) { DescriptorChannel.open(link, on: loop, stallLimit: stallLimit, handle: $0) }
    }
}

/// Returns the two ends of a socket that preserves packet boundaries.
///
/// - Parameter writesBlock: whether writes to the first end block, as on a raw HID device. The second end never blocks.
package func packetSocketPair(writesBlock: Bool = false) throws -> (FileDescriptor, FileDescriptor) {
    var numbers: [Int32] = [-1, -1]
    try Errno.check { socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &numbers) }
    let ends = (FileDescriptor(owning: numbers[0]), FileDescriptor(owning: numbers[1]))
    if writesBlock {
        // The first end blocks, so limit its reads to 1 µs.
        var limit = timeval(tv_sec: 0, tv_usec: 1)
        let size = socklen_t(MemoryLayout<timeval>.size)
        try Errno.check { setsockopt(numbers[0], SOL_SOCKET, SO_RCVTIMEO, &limit, size) }
    } else {
        try Errno.check { fcntl(numbers[0], F_SETFL, O_NONBLOCK) }
    }
    try Errno.check { fcntl(numbers[1], F_SETFL, O_NONBLOCK) }
    return ends
}

extension FileDescriptor {
    package func fill() throws {
        while try Errno.checkUnlessBlocked({ Glibc.send(raw, [1], 1, Int32(MSG_DONTWAIT)) }) != nil {}
    }

    package func nextPackets(_ count: Int, on loop: IOLoop) async throws -> [[UInt8]] {
        let (packets, report) = AsyncStream.makeStream(of: [UInt8].self)
        try await loop.perform {
            try loop.register(self, .readable) { _ in
                var bytes = [UInt8](repeating: 0, count: 1000)
                do {
                    guard let read = try bytes.withUnsafeMutableBytes({ try self.read(into: $0) }) else { return }
                    report.yield(Array(bytes.prefix(read)))
                } catch {
                    loop.unregister(self)
                    report.finish()
                }
            }
        }
        var all: [[UInt8]] = []
        for await packet in packets {
            all.append(packet)
            if all.count >= count { break }
        }
        try await loop.perform { loop.unregister(self) }
        return all
    }
}
