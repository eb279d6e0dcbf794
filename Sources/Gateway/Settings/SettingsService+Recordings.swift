package import Domain
import GatewayAPI

/// Recordings as records that all hosts see. Each is written only by the host that made it, so leases have no say in it
/// (Docs/Leases.md#rule-7).
extension SettingsService {
    /// Writes a recording. Properties that a newer version wrote stay.
    package func publish(_ recording: Recording) async throws(GatewayError) {
        try await put(recording.properties, in: recording.key, doing: "writing the recording \(recording.id.short)")
    }

    /// Writes the name that a person gave a finished recording, and its note.
    package func describe(_ recording: Recording) async throws(GatewayError) {
        let texts = ["name": recording.name, "note": recording.note].mapValues {
            $0.map { SettingValue.string($0) } ?? .null
        }
        try await put(texts, in: recording.key, doing: "writing the recording \(recording.id.short)")
    }

    /// Deletes a recording on every host. Its readings stay.
    package func delete(_ recording: RecordingID) async throws(GatewayError) {
        try await delete(
            RecordKey(type: .recording, name: recording.recordName), doing: "deleting the recording \(recording.short)")
    }

    /// Writes the properties that differ; a missing one is null.
    func put(
        _ properties: [String: SettingValue], in key: RecordKey, doing what: String
    ) async throws(GatewayError) {
        let moment = now()
        let outcome = try await asking(what) { [repository] in
            let present = try await repository.record(key)?.properties ?? [:]
            let changes = properties.sorted { $0.key < $1.key }.compactMap { property, value -> SettingChange? in
                guard value != present[property]?.value ?? .null else { return nil }
                return SettingChange(key: key, property: property, value: value)
            }
            return changes.isEmpty ? MergeOutcome() : try await repository.write(changes, at: moment)
        }
        await wrote(outcome)
    }

    /// Deletes a record on every host.
    func delete(_ key: RecordKey, doing what: String) async throws(GatewayError) {
        let moment = now()
        await wrote(try await asking(what) { [repository] in try await repository.delete(key, at: moment) })
    }

    /// All known recordings, in no particular order. A record that makes no sense here is skipped.
    package func recordings() async throws(GatewayError) -> [Recording] {
        let records = try await asking("reading the recordings") { [repository] in
            try await repository.records(of: .recording)
        }
        return records.compactMap { record in
            guard !record.isTombstone, let id = RecordingID(recordName: record.key.name) else { return nil }
            return Recording(id: id, properties: record.properties.mapValues(\.value))
        }
    }

    /// All marks that hosts share, in no particular order.
    func sharedMarks() async throws(GatewayError) -> [Mark] {
        let records = try await asking("reading the marks") { [repository] in try await repository.records(of: .mark) }
        return records.compactMap { record in
            guard let id = RecordingID(recordName: record.key.name) else { return nil }
            return Mark(id: id, properties: record.properties.mapValues(\.value))
        }
    }

    /// The names that hosts give themselves.
    func hostNames() async throws(GatewayError) -> [HostID: String] {
        let records = try await asking("reading the names of hosts") { [repository] in
            try await repository.records(of: .host)
        }
        var names: [HostID: String] = [:]
        for record in records {
            guard let host = HostID(record.key.name), case .string(let name)? = record.properties["name"]?.value else {
                continue
            }
            names[host] = name
        }
        return names
    }
}

extension Recording {
    fileprivate var key: RecordKey { RecordKey(type: .recording, name: id.recordName) }
}
