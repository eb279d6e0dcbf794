import Cloud
import CloudAPI
import Domain

/// Keys of everything in etcd, each behind the prefix from the settings:
///
/// ```
/// m/epoch  m/floor  m/restoring       epoch of the store, least token, whether it was restored
/// m/believed                          date from which ages count back
/// m/backup                            times of the last good backup and of the beginning of the next
/// m/copies                            shared secret of the replicas
/// z/<zone>                            terms and limits
/// d/<zone>                            identity
/// n/<zone>                            newest mark of the timeline
/// k/<zone>/<number>                   a mark of the timeline, including the newest
/// a/<zone>                            aliases in force, and the token floors that they raised
/// g/<zone>                            changes with each change of a lease's holder or state
/// l/<zone>                            number of leases ever, in digits; missing until counted
/// l/<zone>/<host>                     number of them that the host created
/// r/<zone>/<type>/<name>              a record or tombstone, with its sequence
/// u/<zone>/<digit>                    usage of hosts, by the first digit of their ids
/// x/<zone>/<type>/<sequence>          name of the record at this place of the feed
/// t/<zone>/<time>/<sequence>          a tombstone, by the time from which its age counts
/// o/<zone>/<request>                  a command that its holder has claimed, or that ended without a claim
/// s/<zone>/<host>/<request>           the same command in its author's share: empty, changed along with it
/// p/<zone>/<meter>                    pulse of a lease: empty, changed by every renewal
/// i/<credential>                      hash under which the credential is stored
/// c/<copy>                            address of a living replica, changed by each heartbeat
/// b/<zone>/<host>                     hashes of the credentials bound to the host
/// w/b                                 latest renewals by the replica that wrote it last
/// w/h/<zone>                          head: the zone's sequence and usage, changed with every record
/// w/k/<hash>                          a credential
/// w/l/<zone>/<meter>                  a lease with its holder and token. Never deleted
/// w/q/<zone>/<meter>                  waiting hosts in order; deleted when nobody waits
/// ```
///
/// Keys under `w/` are watched. Numbers are 16 hexadecimal digits, so that they sort. Zone names contain no slash;
/// types are encoded; names and meters come last and are unchanged.
struct StoreKeys: Sendable {
    let prefix: [UInt8]

    init(prefix: String) { self.prefix = Array(prefix.utf8) }

    private func key(_ parts: String) -> [UInt8] { prefix + parts.utf8 }

    // MARK: The store

    var epoch: [UInt8] { key("m/epoch") }
    var tokenFloor: [UInt8] { key("m/floor") }
    var believedDate: [UInt8] { key("m/believed") }
    var restoring: [UInt8] { key("m/restoring") }
    var copiesKey: [UInt8] { key("m/copies") }
    var arriving: [UInt8] { key("m/arriving") }
    var allKinds: [[UInt8]] {
        ["z/", "d/", "n/", "k/", "a/", "g/", "l/", "r/", "u/", "x/", "t/", "o/", "s/", "p/", "i/", "b/", "c/", "w/"]
            .map { key($0) }
    }

    /// Prefixes of the keys in a backup, without running replicas, pending commands and waiting hosts, which a restored
    /// cloud must not contain.
    var lastingKinds: [[UInt8]] {
        ["z/", "d/", "n/", "k/", "a/", "l/", "r/", "u/", "x/", "t/", "i/", "b/", "w/h/", "w/k/", "w/l/"].map { key($0) }
    }
    var backup: [UInt8] { key("m/backup") }

    // MARK: Zones

    var allZones: [UInt8] { key("z/") }
    func zone(_ name: String) -> [UInt8] { key("z/\(name)") }
    var allIdentities: [UInt8] { key("d/") }
    func identity(of zone: String) -> [UInt8] { key("d/\(zone)") }
    func newestMark(of zone: String) -> [UInt8] { key("n/\(zone)") }
    func marks(of zone: String) -> [UInt8] { key("k/\(zone)/") }
    func mark(_ number: UInt64, of zone: String) -> [UInt8] { marks(of: zone) + Self.digits(number) }
    var allHeads: [UInt8] { key("w/h/") }
    func head(_ zone: String) -> [UInt8] { key("w/h/\(zone)") }

    // MARK: Records

    var allRecords: [UInt8] { key("r/") }
    func records(in zone: String) -> [UInt8] { key("r/\(zone)/") }
    func records(in zone: String, type: RecordType) -> [UInt8] { key("r/\(zone)/\(Self.encoded(type))/") }
    func record(_ record: RecordKey, in zone: String) -> [UInt8] {
        records(in: zone, type: record.type) + record.name.utf8
    }
    func shares(in zone: String) -> [UInt8] { key("u/\(zone)/") }
    func shares(_ digit: Character, in zone: String) -> [UInt8] { shares(in: zone) + String(digit).utf8 }
    func feed(_ zone: String, type: RecordType) -> [UInt8] { key("x/\(zone)/\(Self.encoded(type))/") }
    func place(_ sequence: UInt64, of type: RecordType, in zone: String) -> [UInt8] {
        feed(zone, type: type) + Self.digits(sequence)
    }
    func tombstones(in zone: String) -> [UInt8] { key("t/\(zone)/") }
    /// Returns the first possible key of a tombstone with this time.
    func tombstones(in zone: String, from time: WallTime) -> [UInt8] {
        tombstones(in: zone) + Self.digits(UInt64(clamping: time.millisecondsSince1970))
    }
    func tombstone(_ sequence: UInt64, at time: WallTime, in zone: String) -> [UInt8] {
        tombstones(in: zone, from: time) + [UInt8(ascii: "/")] + Self.digits(sequence)
    }

    // MARK: Leases

    var allLeases: [UInt8] { key("w/l/") }
    func leases(in zone: String) -> [UInt8] { key("w/l/\(zone)/") }
    func lease(of meter: String, in zone: String) -> [UInt8] { leases(in: zone) + meter.utf8 }
    func pulses(in zone: String) -> [UInt8] { key("p/\(zone)/") }
    func pulse(of meter: String, in zone: String) -> [UInt8] { pulses(in: zone) + meter.utf8 }
    func leaseCount(_ zone: String) -> [UInt8] { key("l/\(zone)") }
    func leaseCount(_ zone: String, of host: HostID) -> [UInt8] { key("l/\(zone)/\(host)") }
    var renewals: [UInt8] { key("w/b") }
    func aliases(of zone: String) -> [UInt8] { key("a/\(zone)") }
    func leaseGeneration(_ zone: String) -> [UInt8] { key("g/\(zone)") }

    // MARK: Commands

    func command(_ id: RequestID, in zone: String) -> [UInt8] { key("o/\(zone)/\(id)") }
    var allCommandShares: [UInt8] { key("s/") }
    func commandShares(in zone: String) -> [UInt8] { key("s/\(zone)/") }
    func commandShares(of author: String, in zone: String) -> [UInt8] { key("s/\(zone)/\(author)/") }
    func commandShare(_ id: RequestID, of author: String, in zone: String) -> [UInt8] {
        commandShares(of: author, in: zone) + id.description.utf8
    }

    /// Returns the command to which an entry under `s/` refers; nil for any other entry.
    func commandMark(_ entry: EtcdEntry) -> CommandMark? {
        let parts = Self.text(of: entry.key, after: allCommandShares)?.split(separator: "/") ?? []
        guard parts.count == 3, let id = RequestID(parts[2]) else { return nil }
        return CommandMark(
            zone: String(parts[0]), requestID: id, author: String(parts[1]), mark: entry.revision)
    }

    // MARK: Lease queues

    var allQueues: [UInt8] { key("w/q/") }
    func queue(at place: MeterPlace) -> [UInt8] { key("w/q/\(place.zone)/\(place.meter)") }
    var allCopies: [UInt8] { key("c/") }
    func copy(_ copy: ReplicaID) -> [UInt8] { key("c/\(copy)") }

    // MARK: Credentials

    var allCredentials: [UInt8] { key("w/k/") }
    func credential(hash: [UInt8]) -> [UInt8] { key("w/k/") + Self.hexadecimal(hash) }
    func credentialID(_ id: String) -> [UInt8] { key("i/\(id)") }
    func bindings(of host: HostID, in zone: String) -> [UInt8] { key("b/\(zone)/\(host)") }

    // MARK: Reading keys

    enum Watched: Hashable, Sendable {
        case head(zone: String)
        case credential
        case lease(zone: String, meter: String)
        case renewals
        case queue(MeterPlace)
    }

    var watched: [UInt8] { key("w/") }

    /// Returns the subject of a change under `w/`; nil for any other key.
    func watched(_ key: [UInt8]) -> Watched? {
        guard key.starts(with: watched) else { return nil }
        let parts = key.dropFirst(watched.count).split(
            separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
        let texts = parts.compactMap { String(validating: $0, as: UTF8.self) }
        guard texts.count == parts.count else { return nil }
        switch (texts.first, texts.count) {
        case ("b", 1): return .renewals
        case ("h", 2): return .head(zone: texts[1])
        case ("k", 2): return .credential
        case ("l", 3): return .lease(zone: texts[1], meter: texts[2])
        case ("q", 3): return .queue(MeterPlace(zone: texts[1], meter: texts[2]))
        default: return nil
        }
    }

    /// Returns the part of a key after the prefix; nil for another prefix, or if the part is not UTF-8.
    static func text(of key: [UInt8], after prefix: [UInt8]) -> String? {
        guard key.starts(with: prefix) else { return nil }
        return String(validating: key.dropFirst(prefix.count), as: UTF8.self)
    }

    static func number(at key: [UInt8], after prefix: [UInt8]) -> UInt64? {
        guard let text = text(of: key, after: prefix), text.utf8.count == 16 else { return nil }
        return UInt64(text, radix: 16)
    }

    // MARK: Writing parts

    static func digits(_ number: UInt64) -> [UInt8] {
        let text = Array(String(number, radix: 16).utf8)
        return Array(repeating: UInt8(ascii: "0"), count: 16 - text.count) + text
    }

    static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { byte in
            [byte >> 4, byte & 15].map { $0 < 10 ? UInt8(ascii: "0") + $0 : UInt8(ascii: "a") + $0 - 10 }
        }
    }

    /// Encodes slashes, which separate the parts of a key.
    private static func encoded(_ type: RecordType) -> String {
        guard type.rawValue.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "%") }) else {
            return type.rawValue
        }
        return type.rawValue.replacing("%", with: "%25").replacing("/", with: "%2F")
    }
}
