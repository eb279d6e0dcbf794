import CloudAPI
import Domain

/// Messages of one replica to another, oldest first.
///
/// The list of watched meters is always sent as a whole, so the next message replaces a lost one. A full outbox drops
/// the oldest readings of the fullest zone, and the meter's next batch contains the number of lost readings.
struct ReplicaOutbox {
    struct Parcel: Hashable {
        var tellsWatching = false
        var events: [ReplicaNewsBody.Event] = []
        var commands: [ReplicaNewsBody.Command] = []
        var listeners: [ReplicaNewsBody.Listener] = []

        var isEmpty: Bool { !tellsWatching && events.isEmpty && commands.isEmpty && listeners.isEmpty }
    }

    /// Maximum number of waiting batches: some seconds of a hundred watched meters.
    static let eventsMax = 1024
    /// Maximum number of waiting commands, and of waiting messages about new listeners.
    static let othersMax = 256
    /// Maximum number of batches in one message. Together they have no more readings than one batch may have.
    static let eventsAtOnce = 64

    private var tellsWatching = true
    private var events = ZoneLines<ReplicaNewsBody.Event>()
    private var commands = ZoneLines<ReplicaNewsBody.Command>()
    private var listeners = ZoneLines<ReplicaNewsBody.Listener>()
    private var lost: [MeterPlace: Int] = [:]
    private(set) var isUnderWay = false

    mutating func noteWatching() { tellsWatching = true }

    mutating func add(_ event: RelayEventBody, of place: MeterPlace) {
        let event = ReplicaNewsBody.Event(zone: place.zone, meter: place.meter, event: event)
        // Drop several events together, because each removal moves all others.
        for lost in events.add(event, of: place.zone, max: Self.eventsMax, dropping: Self.eventsAtOnce) { lose(lost) }
    }

    mutating func add(_ command: ReplicaNewsBody.Command) {
        _ = commands.add(command, of: command.zone, max: Self.othersMax)
    }

    mutating func add(_ listener: ReplicaNewsBody.Listener) {
        _ = listeners.add(listener, of: listener.zone, max: Self.othersMax)
    }

    private var isEmpty: Bool { !tellsWatching && events.isEmpty && commands.isEmpty && listeners.isEmpty }

    /// - Returns: whether to start a delivery. False if nothing waits, or a running delivery also sends the new
    ///   messages.
    mutating func begin() -> Bool {
        guard !isUnderWay, !isEmpty else { return false }
        isUnderWay = true
        return true
    }

    /// - Returns: nil if nothing waits, which ends the delivery.
    mutating func take() -> Parcel? {
        guard !isEmpty else {
            isUnderWay = false
            return nil
        }
        var readings = 0
        let told = events.take(upTo: Self.eventsAtOnce) { event in
            readings += event.event.batch?.readings.count ?? 0
            return readings <= CloudLimits.readingsPerBatch
        }
        defer { tellsWatching = false }
        return Parcel(
            tellsWatching: tellsWatching, events: told.map { counted($0) },
            commands: commands.take(upTo: Self.othersMax), listeners: listeners.take(upTo: Self.othersMax))
    }

    /// Handles a failed delivery, whose message may have arrived nevertheless. Only the list of watched meters is
    /// resent. Readings count as lost, and commands count as failed.
    mutating func failed(_ parcel: Parcel) {
        for event in parcel.events { lose(event) }
        tellsWatching = true
    }

    private mutating func counted(_ event: ReplicaNewsBody.Event) -> ReplicaNewsBody.Event {
        guard var batch = event.event.batch,
            let missed = lost.removeValue(forKey: MeterPlace(zone: event.zone, meter: event.meter))
        else { return event }
        batch.missed = Self.sum(batch.missed, missed)
        var event = event
        event.event.batch = batch
        return event
    }

    private mutating func lose(_ event: ReplicaNewsBody.Event) {
        guard let batch = event.event.batch else { return }
        let place = MeterPlace(zone: event.zone, meter: event.meter)
        lost[place] = Self.sum(Self.sum(lost[place] ?? 0, event.event.measurements), batch.missed)
        // Limits memory: beyond this number of meters, drop the counts of lost readings.
        if lost.count > Self.eventsMax { lost = [:] }
    }

    private static func sum(_ one: Int, _ other: Int) -> Int { min(one + other, Int(Int32.max)) }
}
