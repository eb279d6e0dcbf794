package import Domain
import Synchronization

/// A service's in-memory data for one meter, such as its sample buffer (`Meters`).
package protocol MeterPart: AnyObject, Sendable {
    /// Whether to keep the part without a session. Called under a lock, so it must not call `Meters`.
    var isNeeded: Bool { get }
    func sessionEnded()
}

extension MeterPart {
    package var isNeeded: Bool { false }
    package func sessionEnded() {}
}

/// A service that keeps data of meters, in memory or on disk.
package protocol MeterKeeping: Sendable {
    /// Deletes a meter's data. Returns the number of deleted readings.
    ///
    /// - Parameter isDropped: whether to delete the readings too.
    func forget(_ meter: MeterID, readings isDropped: Bool) async throws -> Int
    /// Moves the data of `alias` to `meter`, because both ids are the same device.
    func merge(_ alias: MeterID, into meter: MeterID) async throws
}

extension MeterKeeping {
    package func merge(_ alias: MeterID, into meter: MeterID) async throws {}
}

/// Meters of this host, and other meters for which a service keeps data.
///
/// Each service adds one part to each meter, and iterates over the parts of its type. A meter is kept while a session
/// uses it or a part is needed.
package final class Meters: Sendable {
    private struct Meter {
        /// Weak to avoid a cycle: a session holds the log, which holds `Meters`.
        weak var session: DeviceSession?
        /// At most one part of each type.
        var parts: [ObjectIdentifier: any MeterPart] = [:]
        var isUsed = false
        var users = 0

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

    /// Returns the part, which a session uses until `end`. Calls `make` under a lock, so `make` must not call `Meters`.
    func take<Part: MeterPart>(_ id: MeterID, _ make: () -> Part) -> Part {
        state.withLock { meters in
            meters[id, default: Meter()].isUsed = true
            return meters[id, default: Meter()].part(make)
        }
    }

    /// Calls `body` with a part. Afterwards the part is kept only if it is needed.
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

    func part<Part: MeterPart>(_: Part.Type = Part.self, of id: MeterID) -> Part? {
        state.withLock { $0[id]?.parts[ObjectIdentifier(Part.self)] as? Part }
    }

    func parts<Part: MeterPart>(_: Part.Type = Part.self, usedOnly: Bool = false) -> [Part] {
        state.withLock { meters in
            meters.values.compactMap { meter in
                usedOnly && !meter.isUsed ? nil : meter.parts[ObjectIdentifier(Part.self)] as? Part
            }
        }
    }

    func dropUnneeded(_ id: MeterID) {
        state.withLock { meters in
            guard let meter = meters[id], !meter.isUsed, meter.users == 0,
                !meter.parts.values.contains(where: \.isNeeded)
            else { return }
            meters[id] = nil
        }
    }

    // MARK: Sessions

    /// Meters with a session, in the order of their ids.
    package var used: [MeterID] { state.withLock { $0.filter(\.value.isUsed).keys.sorted() } }

    /// Meters with a session, or with a service's data.
    package var all: [MeterID] { state.withLock { $0.keys.sorted() } }

    func session(of id: MeterID) -> DeviceSession? { state.withLock { $0[id]?.session } }

    func begin(_ session: DeviceSession) { state.withLock { $0[session.id, default: Meter()].session = session } }

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
