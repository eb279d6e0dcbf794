import CloudAPI
import Domain

/// What one copy of the cloud has to tell another, oldest first. A value.
///
/// What is watched here is told whole, so that the next word makes good a lost one. Readings are bounded: the newest stay,
/// and those that are lost are counted in the next batch of their meter. A zone loses its own, and no other's.
struct CopyOutbox {
    /// What is told at once.
    struct Parcel: Hashable {
        var tellsWatching = false
        var events: [CopyNewsBody.Event] = []
        var commands: [CopyNewsBody.Command] = []
        var listeners: [CopyNewsBody.Listener] = []

        var isEmpty: Bool { !tellsWatching && events.isEmpty && commands.isEmpty && listeners.isEmpty }
    }

    /// Most batches that wait: some seconds of a hundred watched meters.
    static let eventsMax = 1024
    /// Most commands that wait, and as many hosts.
    static let othersMax = 256
    /// Batches told at once, unless they have more readings together than one batch may.
    static let eventsAtOnce = 64

    private var tellsWatching = true
    private var events = ZoneLines<CopyNewsBody.Event>()
    private var commands = ZoneLines<CopyNewsBody.Command>()
    private var listeners = ZoneLines<CopyNewsBody.Listener>()
    private var lost: [MeterPlace: Int] = [:]
    /// Whether something of it is being told.
    private(set) var isUnderWay = false

    /// What is watched here has changed, or is to be told again.
    mutating func noteWatching() { tellsWatching = true }

    mutating func add(_ event: RelayEventBody, of place: MeterPlace) {
        let event = CopyNewsBody.Event(zone: place.zone, meter: place.meter, event: event)
        // Many at once, as each removal moves all others.
        for lost in events.add(event, of: place.zone, max: Self.eventsMax, dropping: Self.eventsAtOnce) { lose(lost) }
    }

    mutating func add(_ command: CopyNewsBody.Command) {
        _ = commands.add(command, of: command.zone, max: Self.othersMax)
    }

    mutating func add(_ listener: CopyNewsBody.Listener) {
        _ = listeners.add(listener, of: listener.zone, max: Self.othersMax)
    }

    private var isEmpty: Bool { !tellsWatching && events.isEmpty && commands.isEmpty && listeners.isEmpty }

    /// - Returns: whether to begin telling; false while something is being told, which goes on with this.
    mutating func begin() -> Bool {
        guard !isUnderWay, !isEmpty else { return false }
        isUnderWay = true
        return true
    }

    /// - Returns: what to tell next; nil if there is nothing, which ends the telling.
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

    /// It did not arrive, or nobody knows. Commands are not told again: whoever ordered them hears that they were not done.
    mutating func failed(_ parcel: Parcel) {
        for event in parcel.events { lose(event) }
        tellsWatching = true
    }

    /// The event, which says what was lost before it.
    private mutating func counted(_ event: CopyNewsBody.Event) -> CopyNewsBody.Event {
        guard var batch = event.event.batch,
            let missed = lost.removeValue(forKey: MeterPlace(zone: event.zone, meter: event.meter))
        else { return event }
        batch.missed = Self.sum(batch.missed, missed)
        var event = event
        event.event.batch = batch
        return event
    }

    private mutating func lose(_ event: CopyNewsBody.Event) {
        guard let batch = event.event.batch else { return }
        let place = MeterPlace(zone: event.zone, meter: event.meter)
        lost[place] = Self.sum(Self.sum(lost[place] ?? 0, event.event.measurements), batch.missed)
        // Of so many meters nobody says what was lost.
        if lost.count > Self.eventsMax { lost = [:] }
    }

    /// Stays within what a batch may say.
    private static func sum(_ one: Int, _ other: Int) -> Int { min(one + other, Int(Int32.max)) }
}
