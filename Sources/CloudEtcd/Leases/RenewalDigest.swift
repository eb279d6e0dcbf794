import Cloud
import Synchronization

/// Recent renewals by one replica: leases, and the revisions of their pulses (the keys that renewals change).
///
/// From it, other replicas learn when a lease was last renewed. It is only a hint: without it, a replica notices a
/// renewal when it next reads all leases, and gives an expired lease away that much later.
struct RenewalDigest: Hashable, Sendable {
    /// Maximum number of renewals in a digest, which keeps a request far below `EtcdTransaction.bytesMax`. The next
    /// digest contains the rest.
    static let renewalsMax = 4000

    var zones: [String: [String: Int64]] = [:]

    var isEmpty: Bool { zones.isEmpty }
}

extension RenewalDigest {
    /// Stored form: `1`, then a line with each zone's name. Below it, a line for each meter: a space, the revision of
    /// its pulse, a space and the meter. No name contains a line end.
    var bytes: [UInt8] {
        var bytes = Array("1\n".utf8)
        for (zone, meters) in zones.sorted(by: { $0.key < $1.key }) {
            bytes += zone.utf8
            bytes.append(UInt8(ascii: "\n"))
            for (meter, revision) in meters.sorted(by: { $0.key < $1.key }) {
                bytes += " \(revision) \(meter)\n".utf8
            }
        }
        return bytes
    }

    init(_ entry: EtcdEntry) throws(EtcdError) {
        let lines = entry.value.split(separator: UInt8(ascii: "\n"))
        guard lines.first?.elementsEqual("1".utf8) == true else {
            throw EtcdError(damaged: entry.key, "its first line is not one that this version knows")
        }
        var zone: String?
        for line in lines.dropFirst() {
            guard line.first == UInt8(ascii: " ") else {
                zone = String(validating: line, as: UTF8.self)
                continue
            }
            let words = line.dropFirst().split(separator: UInt8(ascii: " "), maxSplits: 1)
            guard let zone, words.count == 2, let digits = String(validating: words[0], as: UTF8.self),
                let revision = Int64(digits), let meter = String(validating: words[1], as: UTF8.self)
            else {
                throw EtcdError(
                    damaged: entry.key, "\"\(String(decoding: line.prefix(64), as: UTF8.self))\" is not a renewal")
            }
            zones[zone, default: [:]][meter] = revision
        }
    }
}

final class PendingRenewals: Sendable {
    private let pulses = Mutex<[MeterPlace: Int64]>([:])

    func add(_ place: MeterPlace, pulse: Int64) { pulses.withLock { $0[place] = pulse } }

    func take() -> RenewalDigest {
        let taken = pulses.withLock { pulses in
            guard pulses.count > RenewalDigest.renewalsMax else {
                defer { pulses = [:] }
                return pulses
            }
            var taken: [MeterPlace: Int64] = [:]
            for (place, pulse) in pulses.prefix(RenewalDigest.renewalsMax) { taken[place] = pulse }
            for place in taken.keys { pulses[place] = nil }
            return taken
        }
        var digest = RenewalDigest()
        for (place, pulse) in taken { digest.zones[place.zone, default: [:]][place.meter] = pulse }
        return digest
    }
}
