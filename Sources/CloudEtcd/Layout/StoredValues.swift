import Cloud
import CloudAPI
import Domain
import FoundationEssentials

// Values of the keys in etcd: JSON, in which unknown names are ignored. Records are stored in their wire form.

protocol StoredValue: Codable, Sendable {}

extension StoredValue {
    var bytes: [UInt8] {
        get throws(EtcdError) {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                return [UInt8](try encoder.encode(self))
            } catch {
                throw EtcdError(.damaged, "\(self) cannot be written as JSON (\(error))")
            }
        }
    }

    init(_ entry: EtcdEntry) throws(EtcdError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(entry.value))
        } catch {
            throw EtcdError(damaged: entry.key, "\(error)")
        }
    }
}

extension EtcdError {
    init(damaged key: [UInt8], _ why: String) {
        self.init(
            .damaged,
            "what etcd has under \"\(String(decoding: key, as: UTF8.self))\" cannot be read: \(why.prefix(200)). "
                + "Did another program write it, or a newer version? Restore etcd from a backup")
    }
}

struct StoredTerms: StoredValue, Hashable {
    /// In milliseconds.
    var ttl: Int64
    var lockDelay: Int64
    var policy: String
    /// Nil for the standard quota.
    var quota: StoredQuota?

    init(_ terms: LeaseTerms, quota: ZoneQuota = .standard) {
        self.quota = StoredQuota(quota)
        ttl = terms.timeToLive.milliseconds
        // Store the requested lock-delay: `LeaseTerms` computes the effective one from it again.
        lockDelay = terms.askedLockDelay.milliseconds
        policy = terms.policy.rawValue
    }

    var terms: LeaseTerms? {
        LeasePolicy(rawValue: policy).map {
            LeaseTerms(timeToLive: .milliseconds(ttl), lockDelay: .milliseconds(lockDelay), policy: $0)
        }
    }
}

/// Head of a zone, changed with each change of its records.
struct StoredHead: StoredValue, Hashable {
    var sequence: UInt64 = 0
    /// Latest time of an accepted stamp, in milliseconds since 1970.
    var accepted: UInt64 = 0
    /// Greatest sequence of a purged tombstone.
    var floor: UInt64 = 0
    /// Usage of the zone; nil if a replica without quotas has written since the last count.
    var used: StoredAmount?
    /// Sequence before the last change.
    var before: UInt64 = 0
    var types: [String] = []
    /// Replica that made the last change, with the change's number, so that no two heads are equal.
    var writer = ""
}

struct StoredMark: StoredValue, Hashable {
    var number: UInt64
    var id: String
    var first: UInt64

    init(_ mark: TimelineMark) {
        number = mark.number
        id = String(mark.id, radix: 16)
        first = mark.first
    }
}

extension TimelineMark {
    init(_ entry: EtcdEntry) throws(EtcdError) {
        let stored = try StoredMark(entry)
        guard let id = UInt64(stored.id, radix: 16) else {
            throw EtcdError(damaged: entry.key, "\"\(stored.id)\" is not a mark's id")
        }
        self.init(number: stored.number, id: id, first: stored.first)
    }

    func puts(of zone: String, _ keys: StoreKeys) throws(EtcdError) -> [EtcdPut] {
        let value = try StoredMark(self).bytes
        return [
            EtcdPut(key: keys.newestMark(of: zone), value: value),
            EtcdPut(key: keys.mark(number, of: zone), value: value),
        ]
    }
}

extension UniqueID<Zone> {
    init(_ entry: EtcdEntry) throws(EtcdError) {
        guard let id = String(validating: entry.value, as: UTF8.self).flatMap({ Zone.ID($0) }) else {
            throw EtcdError(damaged: entry.key, "it is not a UUID")
        }
        self = id
    }
}

struct StoredRecord: Hashable, Sendable {
    var record: SyncRecord
    var sequence: UInt64
    /// Date from which a tombstone's age counts; nil for other records.
    var tombstoneTime: WallTime?

    /// A line with `1`, the sequence and the tombstone time (`-` if none), then the record in its wire form.
    var bytes: [UInt8] {
        var bytes = Array("1 \(sequence) \(tombstoneTime?.millisecondsSince1970.description ?? "-")\n".utf8)
        RecordText.write(record, to: &bytes)
        return bytes
    }

    init(record: SyncRecord, sequence: UInt64, tombstoneTime: WallTime?) {
        self.record = record
        self.sequence = sequence
        self.tombstoneTime = tombstoneTime
    }

    init(_ entry: EtcdEntry) throws(EtcdError) {
        guard let end = entry.value.firstIndex(of: UInt8(ascii: "\n")),
            let line = String(validating: entry.value[..<end], as: UTF8.self)
        else { throw EtcdError(damaged: entry.key, "its first line is missing") }
        let words = line.split(separator: " ")
        guard words.count == 3, words[0] == "1", let sequence = UInt64(words[1]) else {
            throw EtcdError(damaged: entry.key, "\"\(line.prefix(64))\" is not a first line that this version knows")
        }
        self.sequence = sequence
        tombstoneTime = Int64(words[2]).map { WallTime(millisecondsSince1970: $0) }
        let text = entry.value[(end + 1)...]
        do {
            // Other writers may format the JSON differently.
            record = try SyncRecord(text: text) ?? JSONDecoder().decode(SyncRecord.self, from: Data(text))
        } catch {
            throw EtcdError(damaged: entry.key, "\(error)")
        }
    }
}

/// A lease without its renewal time, which each replica measures on its own monotonic clock.
struct StoredLease: StoredValue, Hashable {
    var state: String
    var token: UInt64
    var terms: StoredTerms
    var host: String?
    var hostName: String?
    var session: String?
    var transport: String?
    /// Wall-clock time of acquisition, in milliseconds since 1970.
    var acquired: Int64?
    /// Id of the last granted request, the only one that an older replica stores.
    var request: String?
    /// Grants before `request`, oldest first.
    var earlier: [Grant]?
    var writer: String

    struct Grant: Codable, Hashable {
        var request: String
        var token: UInt64
    }

    init(_ record: LeaseRecord, writer: String) {
        state =
            switch record.state {
            case .free: "free"
            case .held: "held"
            case .revoking: "revoking"
            }
        token = record.token.rawValue
        terms = StoredTerms(record.terms)
        host = record.holder?.host.description
        hostName = record.holder?.hostName
        session = record.holder?.session.description
        transport = record.holder?.transport.rawValue
        acquired = record.holder?.acquiredAt.millisecondsSince1970
        request = record.grants.last?.requestID.description
        let before = record.grants.dropLast()
        earlier =
            before.isEmpty
            ? nil : before.map { Grant(request: $0.requestID.description, token: $0.token.rawValue) }
        self.writer = writer
    }

    /// Nil if a stored value is invalid.
    ///
    /// - Parameter renewedAt: time at which this replica noticed the lease's last change.
    func record(renewedAt: MonotonicTime) -> LeaseRecord? {
        guard let terms = terms.terms, token <= FencingToken.max.rawValue, let state = recordState else { return nil }
        let stored = (earlier ?? []) + (request.map { [Grant(request: $0, token: token)] } ?? [])
        let grants = stored.compactMap { grant in
            RequestID(grant.request).map { LeaseGrant(requestID: $0, token: FencingToken(rawValue: grant.token)) }
        }
        guard grants.count == stored.count else { return nil }
        return LeaseRecord(
            state: state, token: FencingToken(rawValue: token), terms: terms, renewedAt: renewedAt, grants: grants)
    }

    private var recordState: LeaseRecord.State? {
        if state == "free" { return .free }
        guard let host = host.flatMap({ HostID($0) }), let session = session.flatMap({ SessionID($0) }), let hostName,
            let transport = transport.flatMap({ LeaseTransport(rawValue: $0) }), let acquired
        else { return nil }
        let holder = LeaseHolder(
            host: host, hostName: hostName, session: session, transport: transport,
            acquiredAt: WallTime(millisecondsSince1970: acquired))
        return switch state {
        case "held": .held(holder)
        case "revoking": .revoking(holder)
        default: nil
        }
    }
}

/// A credential as stored. `kind` includes the role, because a replica from before roles refuses an unknown kind. It
/// would ignore a separate field, and grant a read-only host all rights.
struct StoredCredential: StoredValue, Hashable {
    var id: String
    var hash: [UInt8]
    var zone: String
    /// `host` or `enrolment` with all rights; otherwise the role comes first: `readOnly host`.
    var kind: String
    var label: String
    var host: String?
    var hostName: String?
    var machine: String?
    /// Wall-clock time of creation, in milliseconds since 1970.
    var created: Int64
    var revoked: Int64?
    /// Enrolment token with which the host got this credential; nil after its first use. An older replica drops this
    /// field, so that the credential counts as used.
    var unusedFrom: String?
    var writer: String

    init(_ credential: Credential, writer: String) {
        self.writer = writer
        id = credential.id
        hash = credential.hash
        zone = credential.zone
        kind = Self.word(credential.kind, credential.role)
        label = credential.label
        host = credential.binding?.host.description
        hostName = credential.binding?.hostName
        machine = credential.binding?.machine
        created = credential.createdAt.millisecondsSince1970
        revoked = credential.revokedAt?.millisecondsSince1970
        unusedFrom = credential.unusedFrom
    }

    var credential: Credential? {
        guard let (kind, role) = Self.kinds[kind] else { return nil }
        var credential = Credential(
            id: id, hash: hash, zone: zone, kind: kind, role: role, label: label,
            createdAt: WallTime(millisecondsSince1970: created))
        credential.revokedAt = revoked.map { WallTime(millisecondsSince1970: $0) }
        credential.unusedFrom = unusedFrom
        guard let host else { return credential }
        guard let id = HostID(host), let hostName, let machine else { return nil }
        credential.binding = Credential.Binding(host: id, hostName: hostName, machine: machine)
        return credential
    }

    private static func word(_ kind: Credential.Kind, _ role: HostRole) -> String {
        role == .full ? kind.rawValue : "\(role.rawValue) \(kind.rawValue)"
    }

    private static let kinds: [String: (kind: Credential.Kind, role: HostRole)] = {
        let all = Credential.Kind.allCases.flatMap { kind in HostRole.allCases.map { (kind, $0) } }
        return Dictionary(uniqueKeysWithValues: all.map { (word($0, $1), ($0, $1)) })
    }()
}

struct StoredBindings: StoredValue, Hashable {
    var hashes: [[UInt8]] = []
}
