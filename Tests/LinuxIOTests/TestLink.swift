import Gateway
import Glibc
import LinuxIO
import MeterTestKit
import Synchronization

/// A link over a socket that a test holds the other end of.
final class TestLink: DescriptorLink {
    let framing: Framing
    let writesBlock: Bool
    let name = "the test"
    let remedy = "Do something."
    private let opening: @Sendable () throws(ChannelFailure) -> (FileDescriptor, connectLimit: Duration?)
    private let (hasBegun, reportBegun) = AsyncStream.makeStream(of: Void.self)
    private let (hasEnded, reportEnded) = AsyncStream.makeStream(of: Void.self)

    init(_ descriptor: FileDescriptor, _ framing: Framing, writesBlock: Bool = false) {
        self.framing = framing
        self.writesBlock = writesBlock
        opening = { () throws(ChannelFailure) in (descriptor, nil) }
    }

    init(connectingTo server: LocalServer, limit: Duration = .seconds(3600)) {
        framing = .packets
        writesBlock = false
        opening = { () throws(ChannelFailure) in (try server.beginConnect(), limit) }
    }

    init(failing failure: ChannelFailure) {
        framing = .packets
        writesBlock = false
        opening = { () throws(ChannelFailure) in throw failure }
    }

    func open() throws(ChannelFailure) -> OpenedLink {
        defer { reportBegun.finish() }
        let (descriptor, limit) = try opening()
        let end = End(descriptor: descriptor, ended: reportEnded)
        guard let limit else { return .open(end) }
        return .connecting(end, limit: limit)
    }

    func failure(connecting reason: Errno) -> ChannelFailure {
        if reason == .timedOut { return ChannelFailure(.unreachable, "the test does not answer (\(reason.code))") }
        return ChannelFailure(.unreachable, "the test: \(reason)")
    }

    func failure(losing reason: Errno?) -> ChannelFailure {
        ChannelFailure(.lost, "the test: \(reason?.description ?? "it ended")")
    }

    /// Returns once the link was opened, or failed to.
    func begun() async { for await _ in hasBegun {} }
    /// Returns once the link is closed.
    func ended() async { for await _ in hasEnded {} }

    private struct End: LinkEnd {
        let descriptor: FileDescriptor
        let ended: AsyncStream<Void>.Continuation

        func close(discardingOutput: Bool) {
            descriptor.close()
            ended.finish()
        }
    }
}

extension ChannelProbe {
    convenience init(_ link: TestLink, on loop: IOLoop, stallLimit: Duration = .seconds(3600)) async throws {
        try await self.init(on: loop) { DescriptorChannel.open(link, on: loop, stallLimit: stallLimit, handle: $0) }
    }
}
