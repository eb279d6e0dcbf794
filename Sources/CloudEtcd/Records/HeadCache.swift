import Domain
import Synchronization

/// Sequence up to which each zone's changes have been reported to the hosts that are connected to this replica.
final class HeadCache: Sendable {
    private let told = Mutex<[String: UInt64]>([:])

    func wrote(_ zone: String, from before: UInt64, to sequence: UInt64) {
        told.withLock { told in
            guard told[zone] ?? before == before else { return }
            told[zone] = sequence
        }
    }

    /// Stores the sequence of a new head.
    ///
    /// - Parameter isOwn: whether this replica wrote the head.
    /// - Returns: the record types whose change must be reported to hosts; nil if there are none.
    func see(_ head: StoredHead, of zone: String, isOwn: Bool) -> [String]? {
        told.withLock { told in
            guard let before = told[zone] else {
                told[zone] = head.sequence
                return nil
            }
            guard head.sequence > before else { return nil }
            told[zone] = head.sequence
            guard head.before != before else { return isOwn ? nil : head.types }
            // This replica has not seen all changes before this head, so their types are unknown. Report all types.
            let known = RecordType.known.map(\.rawValue)
            return known + head.types.filter { !known.contains($0) }
        }
    }
}
