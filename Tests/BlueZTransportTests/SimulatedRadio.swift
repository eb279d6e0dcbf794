import BluetoothCore
import Domain
import LinuxIO
import MeterCodec
import MeterSimulator
import MeterTestKit
import SimulatedPeripheral

/// A meter's radio at the other end of a packet socket: a simulated meter behind a GATT server. Lives on a loop, holds
/// the socket until `vanish` or until the host is gone.
final class SimulatedRadio: @unchecked Sendable {
    // Unchecked: only used on the loop.

    private let end: FileDescriptor
    private let loop: IOLoop
    private var peripheral: SimulatedPeripheral
    private var meter: any SimulatedMeter
    private let pieces: [Int]?
    /// How many packets it still sends before it vanishes.
    private var packetsLeft: Int
    private var isGone = false
    private let start: MonotonicTime

    init(
        _ end: FileDescriptor, _ layout: SimulatedPeripheral.Layout, mtu: Int? = 23,
        meter: any SimulatedMeter = SimulatedUM(model: .um25c), pieces: [Int]? = nil, packets: Int = .max,
        on loop: IOLoop
    ) {
        self.end = end
        self.loop = loop
        self.meter = meter
        self.pieces = pieces
        peripheral = SimulatedPeripheral(layout, ownMTU: mtu)
        packetsLeft = packets
        start = loop.now
        loop.execute { [self] in
            do throws(Errno) {
                try loop.register(end, .readable) { [self] _ in ready() }
            } catch {
                vanish()
            }
        }
    }

    func vanish() {
        guard !isGone else { return }
        isGone = true
        loop.unregister(end)
        end.close()
    }

    private func ready() {
        do throws(Errno) {
            while !isGone {
                guard let packet = try end.readPacket() else { return }
                guard !packet.isEmpty else { return vanish() }
                try took(packet)
            }
        } catch {
            vanish()
        }
    }

    private func took(_ packet: [UInt8]) throws(Errno) {
        for answer in peripheral.receive(packet) { try send(answer) }
        for written in peripheral.takeWritten() {
            for answer in meter.receive(written, at: loop.now - start) {
                for told in peripheral.tell(answer, pieces: pieces) { try send(told) }
            }
        }
    }

    private func send(_ packet: [UInt8]) throws(Errno) {
        guard !isGone else { return }
        guard packetsLeft > 0 else { return vanish() }
        packetsLeft -= 1
        try end.write(packet: packet)
    }
}
