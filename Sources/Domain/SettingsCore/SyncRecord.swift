/// Type of a record. Unknown types are kept and forwarded, because a newer host may write them.
package struct RecordType: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let host = RecordType(rawValue: "Host")
    /// Settings of a meter; the record's name is the meter's id.
    package static let deviceSettings = RecordType(rawValue: "DeviceSettings")
    /// Alias of a meter; the record's name is a second address of the meter.
    package static let meterAlias = RecordType(rawValue: "MeterAlias")
    /// A charge session's summary, written by its host only.
    package static let recording = RecordType(rawValue: "Recording")

    /// A mark on a meter's timeline (`Mark`). Any host may rename, end or delete it.
    package static let mark = RecordType(rawValue: "Mark")

    /// Types known to this version, in sync order (Docs/SettingsAndRebuild.md#records).
    package static let known: [RecordType] = [.host, .deviceSettings, .meterAlias, .recording, .mark]
}

package struct RecordKey: Hashable, Sendable {
    package var type: RecordType
    /// Name of the record; for `deviceSettings`, a normalised meter id.
    package var name: String

    package init(type: RecordType, name: String) {
        self.type = type
        self.name = name
    }
}

package struct Register: Hashable, Sendable {
    package var value: SettingValue
    package var stamp: Stamp
    /// Host that delivered the write to the cloud, as recorded by the cloud; nil if it is the stamp's host, or unknown.
    /// The stamp's host is only the sender's claim.
    ///
    /// Not part of equality or merge: hosts that forward each other's writes must end up equal.
    package var broughtBy: HostID?

    package init(value: SettingValue, stamp: Stamp, broughtBy: HostID? = nil) {
        self.value = value
        self.stamp = stamp
        self.broughtBy = broughtBy
    }

    package static func == (lhs: Self, rhs: Self) -> Bool { lhs.value == rhs.value && lhs.stamp == rhs.stamp }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(value)
        hasher.combine(stamp)
    }
}

/// Deletion of a record; the later of two wins.
package struct Deletion: Hashable, Sendable {
    package var stamp: Stamp
    /// Record into which this duplicate was folded (`RebuildPlan`); nil for a person's deletion.
    package var mergedInto: String?
    /// Host that delivered the deletion, as in `Register`; not part of equality.
    package var broughtBy: HostID?

    package init(stamp: Stamp, mergedInto: String? = nil, broughtBy: HostID? = nil) {
        self.stamp = stamp
        self.mergedInto = mergedInto
        self.broughtBy = broughtBy
    }

    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.stamp == rhs.stamp && lhs.mergedInto == rhs.mergedInto
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(stamp)
        hasher.combine(mergedInto)
    }
}

/// Properties that merge one by one, and a deletion that hides older properties.
///
/// Contains only properties younger than the deletion, so that records with the same meaning are equal.
package struct SyncRecord: Hashable, Sendable {
    package let key: RecordKey
    package private(set) var properties: [String: Register]
    package private(set) var deletion: Deletion?

    package init(key: RecordKey, properties: [String: Register] = [:], deletion: Deletion? = nil) {
        self.key = key
        self.deletion = deletion
        self.properties = properties
        reduce()
    }

    package var isTombstone: Bool { deletion != nil && properties.isEmpty }

    /// Newest of the property and deletion stamps; nil for an empty record.
    package var newestStamp: Stamp? {
        properties.values.reduce(deletion?.stamp) { newest, register in
            newest.map { max($0, register.stamp) } ?? register.stamp
        }
    }

    /// Whether the property was written, or the record deleted, at this stamp or later.
    package func has(_ property: String, asNewAs stamp: Stamp) -> Bool {
        [properties[property]?.stamp, deletion?.stamp].contains { $0.map { $0 >= stamp } ?? false }
    }

    /// Merges another record: the greater stamp wins, for each property and for the deletion.
    ///
    /// Commutative, associative, idempotent and total. Ignores the keys, because the rebuild merges records with
    /// different names. Of two equal registers, this record's own is kept with its `broughtBy`.
    package mutating func merge(_ other: SyncRecord) {
        if let theirs = other.deletion { deletion = deletion.map { max(theirs, $0) } ?? theirs }
        if properties.isEmpty {
            properties = other.properties
        } else {
            for (name, theirs) in other.properties {
                properties[name] = properties[name].map { max(theirs, $0) } ?? theirs
            }
        }
        reduce()
    }

    /// Returns a copy whose `broughtBy` is `host` for every write of another author.
    package func brought(by host: HostID) -> SyncRecord {
        var copy = self
        copy.properties = properties.mapValues { register in
            Register(
                value: register.value, stamp: register.stamp, broughtBy: register.stamp.host == host ? nil : host)
        }
        if let theirs = deletion { copy.deletion?.broughtBy = theirs.stamp.host == host ? nil : host }
        return copy
    }

    package func merged(with other: SyncRecord) -> SyncRecord {
        var result = self
        result.merge(other)
        return result
    }

    /// Returns a copy with only the properties `names`, and the deletion if `isKept`; nil if nothing remains.
    ///
    /// Used in a refetch after an expired change token: local values outside the outbox may be older than a deletion
    /// that the cloud has purged.
    package func keeping(properties names: Set<String>, deletion isKept: Bool) -> SyncRecord? {
        let part = SyncRecord(
            key: key, properties: properties.filter { names.contains($0.key) }, deletion: isKept ? deletion : nil)
        return part.newestStamp == nil ? nil : part
    }

    private mutating func reduce() {
        guard let deletion else { return }
        if properties.contains(where: { $0.value.stamp <= deletion.stamp }) {
            properties = properties.filter { $0.value.stamp > deletion.stamp }
        }
    }
}

/// Order by stamp, then value. The value only breaks ties, which hosts with unique ids never cause.
extension Register: Comparable {
    package static func < (lhs: Self, rhs: Self) -> Bool {
        guard lhs.stamp == rhs.stamp else { return lhs.stamp < rhs.stamp }
        return lhs.value < rhs.value
    }
}

extension Deletion: Comparable {
    package static func < (lhs: Self, rhs: Self) -> Bool {
        guard lhs.stamp == rhs.stamp else { return lhs.stamp < rhs.stamp }
        switch (lhs.mergedInto, rhs.mergedInto) {
        case (nil, nil), (.some, nil): return false
        case (nil, .some): return true
        case (let left?, let right?): return left.utf8.lexicographicallyPrecedes(right.utf8)
        }
    }
}
