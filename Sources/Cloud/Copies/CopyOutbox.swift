import CloudAPI
import MeterModel

/// What one copy of the cloud has to tell another, oldest first. A value.
///
/// What is watched here is told whole, so that the next word makes good a lost one. Readings are bounded: the newest stay,
/// and those that are lost are counted in the next batch of their meter.
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

    private var waiting = Parcel(tellsWatching: true)
    private var lost: [MeterPlace: Int] = [:]
    /// Whether something of it is being told.
    private(set) var isUnderWay = false

    /// What is watched here has changed, or is to be told again.
    mutating func noteWatching() { waiting.tellsWatching = true }

    mutating func add(_ event: RelayEventBody, of place: MeterPlace) {
        waiting.events.append(CopyNewsBody.Event(zone: place.zone, meter: place.meter, event: event))
        guard waiting.events.count > Self.eventsMax else { return }
        // Many at once, as each removal moves all others.
        for lost in waiting.events.prefix(Self.eventsAtOnce) { lose(lost) }
        waiting.events.removeFirst(Self.eventsAtOnce)
    }

    mutating func add(_ command: CopyNewsBody.Command) {
        waiting.commands.append(command)
        if waiting.commands.count > Self.othersMax { waiting.commands.removeFirst() }
    }

    mutating func add(_ listener: CopyNewsBody.Listener) {
        waiting.listeners.append(listener)
        if waiting.listeners.count > Self.othersMax { waiting.listeners.removeFirst() }
    }

    /// - Returns: whether to begin telling; false while something is being told, which goes on with this.
    mutating func begin() -> Bool {
        guard !isUnderWay, !waiting.isEmpty else { return false }
        isUnderWay = true
        return true
    }

    /// - Returns: what to tell next; nil if there is nothing, which ends the telling.
    mutating func take() -> Parcel? {
        guard !waiting.isEmpty else {
            isUnderWay = false
            return nil
        }
        var parcel = waiting
        let count = Self.countAtOnce(waiting.events)
        parcel.events = waiting.events.prefix(count).map { counted($0) }
        waiting = Parcel(events: Array(waiting.events.dropFirst(count)))
        return parcel
    }

    /// It did not arrive, or nobody knows. Commands are not told again: whoever ordered them hears that they were not done.
    mutating func failed(_ parcel: Parcel) {
        for event in parcel.events { lose(event) }
        waiting.tellsWatching = true
    }

    private static func countAtOnce(_ events: [CopyNewsBody.Event]) -> Int {
        var readings = 0
        let fitting = events.prefix(eventsAtOnce).prefix { event in
            readings += event.event.batch?.readings.count ?? 0
            return readings <= CloudLimits.readingsPerBatch
        }
        return max(fitting.count, min(events.count, 1))
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
