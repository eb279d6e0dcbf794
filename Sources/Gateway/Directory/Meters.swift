package import Domain
import Synchronization

/// What a service keeps of one meter in memory, for example its sample buffer (`Meters`).
package protocol MeterPart: AnyObject, Sendable {
    /// Whether the part has to stay although no session uses the meter. Called under a lock: may not call `Meters`.
    var isNeeded: Bool { get }
    /// The meter's session has ended.
    func sessionEnded()
}

extension MeterPart {
    package var isNeeded: Bool { false }
    package func sessionEnded() {}
}

/// A service that keeps something of meters, in memory or on disk. The directory tells all of them what becomes of a meter.
package protocol MeterKeeping: Sendable {
    /// Deletes what is kept of a meter that a person forgets.
    ///
    /// - Parameter isDropped: whether the person wants the readings deleted too.
    /// - Returns: number of deleted readings.
    func forget(_ meter: MeterID, readings isDropped: Bool) async throws -> Int
    /// An id turned out to be another id of `meter`, which takes over what is kept of it.
    func merge(_ alias: MeterID, into meter: MeterID) async throws
}

extension MeterKeeping {
    package func merge(_ alias: MeterID, into meter: MeterID) async throws {}
}

/// This host's meters, and those of which a service keeps something although they are not here.
///
/// Services keep no maps of meters: each puts its part into the meter and walks over the parts of its type. A meter stays
/// while a session uses it or one of its parts is needed.
package final class Meters: Sendable {
    /// Everything that is in memory of one meter.
    private struct Meter {
        var session: DeviceSession?
        /// At most one of each type.
        var parts: [ObjectIdentifier: any MeterPart] = [:]
        /// A session uses the meter, or is about to.
        var isUsed = false
        /// Number of `use` calls under way.
        var users = 0

        /// The part of a type, made if it is missing.
        mutating func part<Part: MeterPart>(_ make: () -> Part) -> Part {
            if let part = parts[ObjectIdentifier(Part.self)] as? Part { return part }
            let part = make()
            parts[ObjectIdentifier(Part.self)] = part
            return part
        }
    }

    private let state = Mutex<[MeterID: Meter]>([:])

    package init() {}

    // MARK: Parts

    /// The part of a meter that a session uses until `end`.
    ///
    /// - Parameter make: called under a lock: may not call `Meters`.
    func take<Part: MeterPart>(_ id: MeterID, _ make: () -> Part) -> Part {
        state.withLock { meters in
            meters[id, default: Meter()].isUsed = true
            return meters[id, default: Meter()].part(make)
        }
    }

    /// Changes the part of a meter, which afterwards stays as long as it is needed.
    func use<Part: MeterPart, Result>(
        _ id: MeterID, _ make: () -> Part, _ body: (Part) throws -> Result
    ) rethrows -> Result {
        let part = state.withLock { meters in
            meters[id, default: Meter()].users += 1
            return meters[id, default: Meter()].part(make)
        }
        defer {
            state.withLock { $0[id]?.users -= 1 }
            dropUnneeded(id)
        }
        return try body(part)
    }

    /// The part of a meter, nil if there is none.
    func part<Part: MeterPart>(_: Part.Type = Part.self, of id: MeterID) -> Part? {
        state.withLock { $0[id]?.parts[ObjectIdentifier(Part.self)] as? Part }
    }

    /// All parts of a type, in no particular order.
    func parts<Part: MeterPart>(_: Part.Type = Part.self, usedOnly: Bool = false) -> [Part] {
        state.withLock { meters in
            meters.values.compactMap { meter in
                usedOnly && !meter.isUsed ? nil : meter.parts[ObjectIdentifier(Part.self)] as? Part
            }
        }
    }

    /// Drops a meter of which nothing is needed.
    func dropUnneeded(_ id: MeterID) {
        state.withLock { meters in
            guard let meter = meters[id], !meter.isUsed, meter.users == 0,
                !meter.parts.values.contains(where: \.isNeeded)
            else { return }
            meters[id] = nil
        }
    }

    // MARK: Sessions

    /// The meters that a session uses, in the order of their ids.
    package var used: [MeterID] { state.withLock { $0.filter(\.value.isUsed).keys.sorted() } }

    /// Those, and the meters of which something is kept although no session uses them.
    package var all: [MeterID] { state.withLock { $0.keys.sorted() } }

    func session(of id: MeterID) -> DeviceSession? { state.withLock { $0[id]?.session } }

    func begin(_ session: DeviceSession) { state.withLock { $0[session.id, default: Meter()].session = session } }

    /// A meter's session has ended.
    func end(_ id: MeterID) {
        let parts = state.withLock { meters in
            meters[id]?.session = nil
            meters[id]?.isUsed = false
            return meters[id].map { Array($0.parts.values) } ?? []
        }
        for part in parts { part.sessionEnded() }
        dropUnneeded(id)
    }
}
