import BlueZTransport
import Domain
import Foundation
import Glibc
import LinuxIO
import MeterTestKit
import Synchronization

/// The kernel's place: what a test says is what a connect gives. Knows every descriptor that it gave out.
final class ScriptedSockets: RadioSockets {
    typealias Connect = @Sendable (RadioLink, UInt8) throws(Errno) -> FileDescriptor

    private let connect: Connect
    private let search: @Sendable (FileDescriptor) throws(Errno) -> UInt8?
    private let state = Mutex(State())

    private struct State {
        var given: [String] = []
        var channels: [UInt8] = []
    }

    /// - Parameters:
    ///   - search: what SDP answers; it may wait for its argument to have something to read.
    ///   - connect: makes a descriptor that does not block. The channel is 0 over LE.
    init(
        search: @escaping @Sendable (FileDescriptor) throws(Errno) -> UInt8? = { _ throws(Errno) in nil },
        _ connect: @escaping Connect
    ) {
        self.search = search
        self.connect = connect
    }

    /// Which RFCOMM channels were tried, 0 for each LE link.
    var channels: [UInt8] { state.withLock { $0.channels } }

    /// Returns once none is open any more: an LE link's is closed on a thread of its own.
    func allClosed() async throws {
        try await eventually("every socket is closed") { try openCount == 0 }
    }

    /// How many of the descriptors that were given out are still open, under whatever number.
    var openCount: Int {
        get throws {
            let given = state.withLock { Set($0.given) }
            return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { number in
                Self.identity(ofDescriptor: number).map(given.contains) ?? false
            }
        }
    }

    func connectATT(_ link: RadioLink) throws(Errno) -> FileDescriptor { try give(link, 0) }

    func connectRFCOMM(_ link: RadioLink, channel: UInt8) throws(Errno) -> FileDescriptor { try give(link, channel) }

    func findSerialPort(_ link: RadioLink, limit: Duration, cancel: FileDescriptor) throws(Errno) -> UInt8? {
        try search(cancel)
    }

    private func give(_ link: RadioLink, _ channel: UInt8) throws(Errno) -> FileDescriptor {
        state.withLock { $0.channels.append(channel) }
        let descriptor = try connect(link, channel)
        state.withLock { $0.given += [Self.identity(ofDescriptor: "\(descriptor.raw)")].compactMap { $0 } }
        return descriptor
    }

    /// What the kernel calls a socket, whatever number it has.
    private static func identity(ofDescriptor number: String) -> String? {
        // Those of other tests come and go meanwhile.
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
    }
}

/// Keeps the books of slots: what was taken, is up, and was given back.
final class ScriptedSlots: RadioSlots {
    private let refusal: ChannelFailure?
    /// What each failure is explained by; nil: it stays as it is.
    private let explanation: ChannelFailure?
    /// Links wait until the test lets them go on.
    private let isSlow: Bool
    private let book = Mutex<[String]>([])
    private let prepared = Mutex<(@Sendable () -> Void)?>(nil)

    init(refusal: ChannelFailure? = nil, explanation: ChannelFailure? = nil, isSlow: Bool = false) {
        self.refusal = refusal
        self.explanation = explanation
        self.isSlow = isSlow
    }

    /// On the loop.
    func letGoOn() { prepared.withLock { $0.take() }?() }

    func prepare(
        _ link: RadioLink, over transport: LinkAddress.Transport, _ proceed: @escaping @Sendable () -> Void
    ) {
        guard isSlow else { return proceed() }
        prepared.withLock { $0 = proceed }
    }

    func explain(
        _ failure: ChannelFailure, of link: RadioLink, over transport: LinkAddress.Transport
    ) -> ChannelFailure {
        explanation ?? failure
    }

    var calls: [String] { book.withLock { $0 } }

    func take(_ link: RadioLink, over transport: LinkAddress.Transport) -> ChannelFailure? {
        book.withLock { $0.append("take \(transport.rawValue)") }
        return refusal
    }

    func linkUp(_ link: RadioLink, over transport: LinkAddress.Transport) {
        book.withLock { $0.append("up \(transport.rawValue)") }
    }

    func giveBack(_ link: RadioLink, over transport: LinkAddress.Transport) {
        book.withLock { $0.append("back \(transport.rawValue)") }
    }
}

/// Two ends of a socket that do not block: this host's, and the meter's.
func radioPair(_ type: __socket_type = SOCK_SEQPACKET) throws(Errno) -> (host: FileDescriptor, meter: FileDescriptor) {
    var numbers: [Int32] = [-1, -1]
    let flags = Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    try Errno.check { socketpair(AF_UNIX, flags, 0, &numbers) }
    return (FileDescriptor(owning: numbers[0]), FileDescriptor(owning: numbers[1]))
}

/// A socket that never gets connected: it takes no byte, which is what a connect under way looks like to epoll.
func deafSocket() throws(Errno) -> (host: FileDescriptor, meter: FileDescriptor) {
    let pair = try radioPair(SOCK_STREAM)
    let filling = [UInt8](repeating: 0, count: 65_536)
    while try pair.host.write(packet: filling) {}
    return pair
}

extension RadioLink {
    static let meter = RadioLink(
        address: MACAddress(bits: 0x00_15A5_0005_92), isRandom: false, adapter: MACAddress(bits: 0xAA_BB_CC_00_00_01))
}

extension ChannelProbe {
    /// - Parameter limits: by default longer than any busy machine keeps a test waiting.
    convenience init(
        _ link: LinkAddress, on loop: IOLoop, _ sockets: ScriptedSockets, _ slots: ScriptedSlots = ScriptedSlots(),
        limits: RadioLimits = .patient
    ) async throws {
        let opener = RadioChannelOpener(loop: loop, slots: slots, sockets: sockets, limits: limits)
        try await self.init(on: loop) { opener.open(link, as: LineSettings(baudRate: 9600), handle: $0) }
    }

    /// Collects bytes until there are so many, or the link ends.
    func bytes(_ count: Int) async -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count, let bytes = await next()?.bytes { all += bytes }
        return all
    }
}

extension RadioLimits {
    static let patient = RadioLimits(
        connect: .seconds(3600), setUp: .seconds(3600), search: .seconds(3600), stall: .seconds(3600))
}

extension FileDescriptor {
    /// - Returns: false where nothing can be written just now.
    @discardableResult
    func write(packet: [UInt8]) throws(Errno) -> Bool {
        try packet.withUnsafeBufferPointer { bytes throws(Errno) in try write(UnsafeRawBufferPointer(bytes)) } != nil
    }

    /// - Returns: nil where nothing is there; empty at the end.
    func readPacket() throws(Errno) -> [UInt8]? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 16)
        defer { buffer.deallocate() }
        return try read(into: buffer).map { [UInt8](UnsafeRawBufferPointer(rebasing: buffer[..<$0])) }
    }
}
