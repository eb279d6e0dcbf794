import Domain
import Testing

/// Meters and moments that the tests of this target share.
enum Sample {
    static let id = MeterID.mac(MACAddress(bits: 0x02_00_00_00_25_0C))
    static let other = MeterID.usb(vendor: 0x5FC9, product: 0x0063, serial: "DEMO003C")
    static let topics = BrokerTopics(host: "bench", id: HostID(high: 0x1A2B_3C4D_0000_4000, low: 0x8000_0000_0000_0001))

    static var settings: BridgeMachine.Settings { BridgeMachine.Settings(topics: topics, version: "1.2.3") }

    static func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(sinceOrigin: .milliseconds(Int(seconds * 1000)))
    }

    static func reading(_ seconds: Double, volts: Double = 5) -> TimedReading {
        var reading = Reading()
        reading[.voltage] = volts
        reading[.energy] = 1.5
        reading[.temperature] = nil
        return TimedReading(
            wallTime: WallTime(millisecondsSince1970: 1_780_000_000_000 + Int64(seconds * 1000)), time: at(seconds),
            reading: reading)
    }

    /// A meter that is wanted and has data.
    static func meter(_ id: MeterID = id, reading seconds: Double? = 0) -> BridgedMeter {
        var meter = BridgedMeter(
            id, state: seconds == nil ? .connecting : .dataAvailable,
            since: WallTime(millisecondsSince1970: 1_780_000_000_000), isWanted: true)
        meter.name = "Bench"
        meter.model = "UM25C"
        meter.holder = "bench"
        meter.reading = seconds.map { reading($0) }
        meter.abilities = [.init(.nextScreen), .init(.brightness, 0...5), .init(.clearGroup)]
        return meter
    }
}

/// A machine with what it asked for: keeps the messages that are on their way, acknowledges them when told to.
struct Bench {
    var machine: BridgeMachine
    /// Everything published, in order.
    var published: [BrokerMessage] = []
    var unacknowledged: [PacketNumber] = []
    /// Everything else, in order.
    var others: [BridgeMachine.Action] = []

    init(_ settings: BridgeMachine.Settings = Sample.settings) { machine = BridgeMachine(settings) }

    /// One whose broker took it at 0 s.
    static func open(_ settings: BridgeMachine.Settings = Sample.settings) -> Bench {
        var bench = Bench(settings)
        bench.take(bench.machine.start(at: Sample.at(0)))
        bench.take(bench.machine.linkOpened(at: Sample.at(0)))
        bench.acknowledgeAll(at: 0)
        return bench
    }

    mutating func take(_ actions: [BridgeMachine.Action]) {
        for action in actions {
            guard case .publish(let number, let message) = action else {
                others.append(action)
                continue
            }
            published.append(message)
            unacknowledged.append(number)
        }
    }

    mutating func observe(_ meters: [BridgedMeter], at seconds: Double) {
        take(machine.observed(meters, at: Sample.at(seconds), random: 0))
    }

    mutating func acknowledgeAll(at seconds: Double) {
        while !unacknowledged.isEmpty {
            take(machine.acknowledged(unacknowledged.removeFirst(), at: Sample.at(seconds)))
        }
    }

    mutating func lose(_ cause: String = "gone", at seconds: Double) {
        unacknowledged = []
        take(machine.linkLost(BrokerTrouble(cause), at: Sample.at(seconds), random: 200))
    }

    mutating func reopen(at seconds: Double) {
        observe([], at: seconds)
        take(machine.linkOpened(at: Sample.at(seconds)))
    }

    mutating func ask(_ payload: String, of meter: MeterID = Sample.id, at seconds: Double) {
        take(machine.received(BrokerMessage(Sample.topics.request(meter), payload), at: Sample.at(seconds)))
    }

    func last(_ topic: String) -> BrokerMessage? { published.last { $0.topic == topic } }

    func count(_ topic: String) -> Int { published.count { $0.topic == topic } }

    var notices: [BridgeMachine.Notice] {
        others.compactMap { if case .tell(let notice) = $0 { notice } else { nil } }
    }

    var requests: [(RequestNumber, MeterRequest, MeterID)] {
        others.compactMap {
            if case .perform(let number, let request, let id) = $0 { (number, request, id) } else { nil }
        }
    }

    /// Forgets what was seen so far.
    mutating func clear() { (published, others) = ([], []) }
}
