import Cloud
import CloudAPI
import Domain

/// The keys of everything in etcd. They begin with the prefix in the settings, followed by:
///
/// ```
/// m/epoch  m/floor  m/restoring       of the store: its epoch, the least token, and whether it was restored
/// m/believed                          the date from which ages count back
/// m/backup                            when the last good backup was written, and when a copy began the next one
/// m/copies                            the secret by which the copies of the cloud know each other
/// z/<zone>                            its terms and limits
/// d/<zone>                            its identity
/// n/<zone>                            the newest mark of its timeline
/// k/<zone>/<number>                   a mark of its timeline, the newest too
/// a/<zone>                            its aliases that are in force, and the floors of tokens that they raised
/// g/<zone>                            changed whenever a holder or a state of its leases does
/// l/<zone>                            how many leases it has had, in digits; missing until they are counted
/// l/<zone>/<host>                     how many of them the host created
/// r/<zone>/<type>/<name>              a record, tombstones too, with its sequence
/// u/<zone>/<digit>                    what hosts have used of their shares, by the first digit of their ids
/// x/<zone>/<type>/<sequence>          the name of the record that is at this place of the feed
/// t/<zone>/<time>/<sequence>          a tombstone, by the time from which its age counts
/// o/<zone>/<request>                  a command that its holder has claimed, or that ended without a claim
/// s/<zone>/<host>/<request>           the same command, in the share of its author: empty, changed along with it
/// p/<zone>/<meter>                    the pulse of a lease: empty, changed by every renewal
/// i/<credential>                      the hash under which it lies
/// c/<copy>                            a copy of the cloud lives: where others reach it, changed by each sign of life
/// b/<zone>/<host>                     the hashes of the credentials that are bound to the host
/// w/b                                 what the copy that wrote it last has renewed since it wrote it before
/// w/h/<zone>                          the head: the zone's sequence and what it has used, changed with every record
/// w/k/<hash>                          a credential
/// w/l/<zone>/<meter>                  a lease: who holds it, its token. Never deleted
/// w/q/<zone>/<meter>                  who waits for the meter, first come first; deleted where nobody does
/// ```
///
/// Keys under `w/` are watched. Numbers are 16 hexadecimal digits, so that they sort. Zone names contain no slash;
/// those in types are encoded; names and meters come last and are unchanged.
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
    /// The beginnings of all keys except those of the store itself.
    var allKinds: [[UInt8]] {
        ["z/", "d/", "n/", "k/", "a/", "g/", "l/", "r/", "u/", "x/", "t/", "o/", "s/", "p/", "i/", "b/", "c/", "w/"]
            .map { key($0) }
    }

    /// The same, without what belongs to running copies of the cloud, to commands that are under way, and to the lines of
    /// hosts that wait, all of which a restored cloud must not find.
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
    /// All tombstones before it are older.
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

    /// - Parameter entry: of the share of a command's author. Nil for any other key.
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

    /// What a change under `w/` concerns.
    enum Watched: Hashable, Sendable {
        case head(zone: String)
        case credential
        case lease(zone: String, meter: String)
        case renewals
        case queue(MeterPlace)
    }

    var watched: [UInt8] { key("w/") }

    /// Nil for any other key.
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

    /// The part after a prefix as text. Nil if it is not valid text.
    static func text(of key: [UInt8], after prefix: [UInt8]) -> String? {
        guard key.starts(with: prefix) else { return nil }
        return String(validating: key.dropFirst(prefix.count), as: UTF8.self)
    }

    /// The number at the end of a key of the feed.
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

    /// Encoded, because a slash would end it.
    private static func encoded(_ type: RecordType) -> String {
        guard type.rawValue.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "%") }) else {
            return type.rawValue
        }
        return type.rawValue.replacing("%", with: "%25").replacing("/", with: "%2F")
    }
}
