import Domain
import Synchronization

/// Sequence up to which each zone's changes were reported to this replica's hosts.
final class HeadCache: Sendable {
    private let told = Mutex<[String: UInt64]>([:])

    func wrote(_ zone: String, from before: UInt64, to sequence: UInt64) {
        told.withLock { told in
            guard told[zone] ?? before == before else { return }
            told[zone] = sequence
        }
    }

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
            // Some earlier changes are unknown to this replica, so report all types.
            let known = RecordType.known.map(\.rawValue)
            return known + head.types.filter { !known.contains($0) }
        }
    }
}
