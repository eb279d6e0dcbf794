import Domain
package import GatewayAPI

/// Recent events of a session for support reports.
final class SessionPast {
    private var transitions: [(time: MonotonicTime, from: ConnectionState, to: ConnectionState, cause: String)] = []
    /// Traffic of the current link until its first reading.
    private var traffic: [TrafficRecord] = []
    /// Nil if no link had GATT services.
    var gatt: [SupportService]?

    private static let transitionsMax = 16
    private static let trafficMax = 32
    private static let bytesMax = 128

    func record(from: ConnectionState, to: ConnectionState, cause: String, at now: MonotonicTime) {
        if transitions.count >= Self.transitionsMax { transitions.removeFirst() }
        transitions.append((now, from, to, cause))
    }

    func record(_ record: TrafficRecord) {
        if traffic.count >= Self.trafficMax { traffic.removeFirst() }
        traffic.append(record)
    }

    func forgetTraffic() {
        if !traffic.isEmpty { traffic = [] }
    }

    func tell(_ meter: inout SupportMeter, at now: MonotonicTime) {
        meter.transitions = transitions.map { change in
            SupportMeter.Transition(
                age_ms: (now - change.time).milliseconds, from: change.from.rawValue, to: change.to.rawValue,
                cause: change.cause)
        }
        meter.traffic = traffic.map { record in
            SupportMeter.Traffic(
                age_ms: (now - record.time).milliseconds, dir: record.direction.rawValue,
                hex: Hex.encode(record.bytes.prefix(Self.bytesMax)), bytes: record.bytes.count)
        }
        meter.gatt = gatt
    }
}

extension DeviceSession {
    package func support() -> SupportMeter {
        var meter = SupportMeter(
            id: id.description, model: shownModel?.displayName, state: machine.state.rawValue,
            transport: link?.transport.rawValue)
        states.past.tell(&meter, at: loop.now)
        return meter
    }
}
