/// A kind of record. Unknown kinds are kept and passed on, because a newer host may write them.
package struct RecordType: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let host = RecordType(rawValue: "Host")
    /// Named by a meter's id.
    package static let deviceSettings = RecordType(rawValue: "DeviceSettings")
    /// Named by a second address of a meter.
    package static let meterAlias = RecordType(rawValue: "MeterAlias")
    /// A charge session's summary, written by its host only.
    package static let recording = RecordType(rawValue: "Recording")

    /// A mark on a meter's timeline (`Mark`), which any host may rename, end or delete.
    package static let mark = RecordType(rawValue: "Mark")

    /// The types of this version, in the order in which they sync (Docs/SettingsAndRebuild.md#records).
    package static let known: [RecordType] = [.host, .deviceSettings, .meterAlias, .recording, .mark]
}

package struct RecordKey: Hashable, Sendable {
    package var type: RecordType
    /// For `deviceSettings`, a normalised meter id.
    package var name: String

    package init(type: RecordType, name: String) {
        self.type = type
        self.name = name
    }
}

/// A property's value, when it was written, and who brought it.
package struct Register: Hashable, Sendable {
    package var value: SettingValue
    package var stamp: Stamp
    /// The host that brought it to the cloud, if that is not the host that the stamp names. A stamp is its sender's
    /// word; this is the cloud's. Also nil if no cloud has said anything about it.
    ///
    /// Not part of equality or of the merge: hosts that pass on each other's writes must still end up equal.
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

/// Says that a record was deleted, and when. A register like any other: a later one wins.
package struct Deletion: Hashable, Sendable {
    package var stamp: Stamp
    /// The rebuild's mark on a duplicate: the record that has its properties now. Nil if a person asked for the
    /// deletion.
    package var mergedInto: String?
    /// As in `Register`; not part of equality either.
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

/// A record as hosts and cloud exchange it: properties that merge one by one, and a deletion that hides older ones.
///
/// Always in reduced form: a property that is not younger than the deletion is not held at all. So two records are
/// equal exactly if they mean the same.
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

    /// Whether it was deleted, and nothing has been written since.
    package var isTombstone: Bool { deletion != nil && properties.isEmpty }

    /// The youngest stamp in it; nil for an empty record.
    package var newestStamp: Stamp? {
        properties.values.reduce(deletion?.stamp) { newest, register in
            newest.map { max($0, register.stamp) } ?? register.stamp
        }
    }

    /// Whether the property was written, or the record deleted, at this stamp or later.
    package func has(_ property: String, asNewAs stamp: Stamp) -> Bool {
        [properties[property]?.stamp, deletion?.stamp].contains { $0.map { $0 >= stamp } ?? false }
    }

    /// Takes over whatever is younger in `other`: for each property the greater stamp wins, and likewise for the
    /// deletion.
    ///
    /// Commutative, associative, idempotent and total: nothing depends on the order of arrival. The keys are not
    /// compared, because the rebuild merges records with different names. Of two equal registers the present one stays,
    /// with the host that brought it first.
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

    /// The record as the cloud accepts it from a host: that host counts as the bringer of everything that its own
    /// stamps are not on, whatever it says itself.
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

    /// The part that waits to be sent. In a refetch after an expired token, a record is what the cloud says plus this
    /// part: the rest is older than a deletion that the cloud has forgotten.
    ///
    /// - Returns: nil if nothing is left.
    package func keeping(properties names: Set<String>, deletion isKept: Bool) -> SyncRecord? {
        let part = SyncRecord(
            key: key, properties: properties.filter { names.contains($0.key) }, deletion: isKept ? deletion : nil)
        return part.newestStamp == nil ? nil : part
    }

    private mutating func reduce() {
        guard let deletion else { return }
        // Most records were never deleted, and most properties of deleted ones are younger.
        if properties.contains(where: { $0.value.stamp <= deletion.stamp }) {
            properties = properties.filter { $0.value.stamp > deletion.stamp }
        }
    }
}

/// Ordered by stamp; equal stamps, which no host with a unique id writes twice, by value, so that the order stays
/// total.
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
