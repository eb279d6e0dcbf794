package import MeterModel

/// A kind of record. Unknown ones are kept and passed on: a newer host may write them.
package struct RecordType: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let host = RecordType(rawValue: "Host")
    /// Named by the meter's id.
    package static let deviceSettings = RecordType(rawValue: "DeviceSettings")
    /// Named by a second address of a meter.
    package static let meterAlias = RecordType(rawValue: "MeterAlias")
    /// A charge session's summary, written by its host only.
    package static let recording = RecordType(rawValue: "Recording")

    /// The types of this version, in the order in which they sync (Docs/SettingsAndRebuild.md#records).
    package static let known: [RecordType] = [.host, .deviceSettings, .meterAlias, .recording]
}

package struct RecordKey: Hashable, Sendable {
    package var type: RecordType
    /// For `deviceSettings` a normalised meter id.
    package var name: String

    package init(type: RecordType, name: String) {
        self.type = type
        self.name = name
    }
}

/// One property: a value, when it was written, and who brought it.
package struct Register: Hashable, Sendable {
    package var value: SettingValue
    package var stamp: Stamp
    /// The host that brought it to the cloud, where that is not the host that the stamp names. A stamp is its sender's
    /// word; this is the cloud's. nil also for what no cloud has said anything about.
    ///
    /// No part of equality and of the merge: hosts that pass on each other's writes must still end alike.
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

/// That a record was deleted, and when. A register like any other: a later one wins.
package struct Deletion: Hashable, Sendable {
    package var stamp: Stamp
    /// The rebuild's mark on a duplicate: the record that has its properties now. nil for a deletion that a person
    /// asked for.
    package var mergedInto: String?
    /// As in `Register`, and no more a part of equality.
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

/// What hosts and cloud exchange: properties that merge one by one, and a deletion that hides older ones.
///
/// Always in its reduced form: a property that is not younger than the deletion is not held at all. So two records are
/// equal exactly when they mean the same.
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

    /// Deleted, and nothing was written since.
    package var isTombstone: Bool { deletion != nil && properties.isEmpty }

    /// The youngest stamp in it, nil for an empty record.
    package var newestStamp: Stamp? {
        [properties.values.map(\.stamp).max(), deletion?.stamp].compactMap { $0 }.max()
    }

    /// Whether it has the property, or was deleted, at this stamp or later.
    package func has(_ property: String, asNewAs stamp: Stamp) -> Bool {
        [properties[property]?.stamp, deletion?.stamp].contains { $0.map { $0 >= stamp } ?? false }
    }

    /// Takes over what is younger in `other`: per property the greater stamp wins, and so with the deletion.
    ///
    /// Commutative, associative, idempotent and total: no case is decided by the order of arrival. The keys are not
    /// compared, because the rebuild merges records of different names. Of two equal registers the one that was there
    /// stays, with who brought it first.
    package mutating func merge(_ other: SyncRecord) {
        if let theirs = other.deletion { deletion = deletion.map { max(theirs, $0) } ?? theirs }
        for (name, theirs) in other.properties {
            properties[name] = properties[name].map { max(theirs, $0) } ?? theirs
        }
        reduce()
    }

    /// As the cloud takes it from a host: whatever the host says of it, the host itself has brought all that its own
    /// stamps are not on.
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

    /// The part that waits to be sent. In a refetch after an expired token, a record is what the cloud says and this:
    /// the rest is older than a deletion that the cloud has forgotten.
    ///
    /// - Returns: nil where nothing is left.
    package func keeping(properties names: Set<String>, deletion isKept: Bool) -> SyncRecord? {
        let part = SyncRecord(
            key: key, properties: properties.filter { names.contains($0.key) }, deletion: isKept ? deletion : nil)
        return part.newestStamp == nil ? nil : part
    }

    private mutating func reduce() {
        guard let deletion else { return }
        // Most records were never deleted, and most properties of those that were are younger.
        if properties.contains(where: { $0.value.stamp <= deletion.stamp }) {
            properties = properties.filter { $0.value.stamp > deletion.stamp }
        }
    }
}

/// By stamp; with equal stamps, which a unique host never writes twice, by value, so that the order stays total.
extension Register: Comparable {
    package static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.stamp == rhs.stamp ? lhs.value < rhs.value : lhs.stamp < rhs.stamp
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
