package import Domain
import GatewayAPI

/// Recordings as records that all hosts see. Each is written only by the host that made it, so leases have no say in it
/// (Docs/Leases.md#rule-7).
extension SettingsService {
    /// Writes the properties that differ. Properties that a newer version wrote stay.
    package func publish(_ recording: Recording) async throws(GatewayError) {
        let key = RecordKey(type: .recording, name: recording.id.recordName)
        let properties = recording.properties
        let moment = now()
        let outcome = try await asking("writing the recording \(recording.id.short)") { [repository] in
            let present = try await repository.record(key)
            let changes = properties.sorted { $0.key < $1.key }.compactMap { property, value in
                present?.properties[property]?.value == value
                    ? nil : SettingChange(key: key, property: property, value: value)
            }
            return changes.isEmpty ? MergeOutcome() : try await repository.write(changes, at: moment)
        }
        await wrote(outcome)
    }

    /// Writes the name that a person gave a finished recording, and its note.
    package func describe(_ recording: Recording) async throws(GatewayError) {
        let key = RecordKey(type: .recording, name: recording.id.recordName)
        let texts = [("name", recording.name), ("note", recording.note)]
        let moment = now()
        let outcome = try await asking("writing the recording \(recording.id.short)") { [repository] in
            let present = try await repository.record(key)?.properties ?? [:]
            let changes = texts.compactMap { property, text -> SettingChange? in
                let value = text.map { SettingValue.string($0) } ?? .null
                guard value != present[property]?.value ?? .null else { return nil }
                return SettingChange(key: key, property: property, value: value)
            }
            return changes.isEmpty ? MergeOutcome() : try await repository.write(changes, at: moment)
        }
        await wrote(outcome)
    }

    /// Deletes a recording on every host. Its readings stay.
    package func delete(_ recording: RecordingID) async throws(GatewayError) {
        let (key, moment) = (RecordKey(type: .recording, name: recording.recordName), now())
        await wrote(
            try await asking("deleting the recording \(recording.short)") { [repository] in
                try await repository.delete(key, at: moment)
            })
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
