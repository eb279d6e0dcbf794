import Domain
import Synchronization

/// How far each zone's changes of records have been reported to those who listen to this copy.
final class HeadCache: Sendable {
    private let told = Mutex<[String: UInt64]>([:])

    /// This copy changed records, which it reports by itself.
    func wrote(_ zone: String, from before: UInt64, to sequence: UInt64) {
        told.withLock { told in
            guard told[zone] ?? before == before else { return }
            told[zone] = sequence
        }
    }

    /// - Parameter isOwn: whether this copy wrote it.
    /// - Returns: the types to report, if any.
    func see(_ head: StoredHead, of zone: String, isOwn: Bool) -> [String]? {
        told.withLock { told in
            guard let before = told[zone] else {
                // As it was at the start.
                told[zone] = head.sequence
                return nil
            }
            guard head.sequence > before else { return nil }
            told[zone] = head.sequence
            guard head.before != before else { return isOwn ? nil : head.types }
            // There were others in between, of unknown types.
            let known = RecordType.known.map(\.rawValue)
            return known + head.types.filter { !known.contains($0) }
        }
    }
}
