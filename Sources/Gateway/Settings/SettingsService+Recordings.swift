package import Domain
import GatewayAPI

/// Recordings as records that all hosts see. Each is written only by the host that made it, so leases have no say in it
/// (Docs/Leases.md#rule-7).
extension SettingsService {
    /// Writes a recording. Properties that a newer version wrote stay.
    package func publish(_ recording: Recording) async throws(GatewayError) {
        try await put(recording.properties, in: recording.id.key, doing: "writing the recording \(recording.id.short)")
    }

    /// Writes the name that a person gave a finished recording, and its note.
    package func describe(_ recording: Recording) async throws(GatewayError) {
        let texts = ["name": recording.name, "note": recording.note].mapValues {
            $0.map { SettingValue.string($0) } ?? .null
        }
        try await put(texts, in: recording.id.key, doing: "writing the recording \(recording.id.short)")
    }

    /// Deletes a recording on every host. Its readings stay.
    package func delete(_ recording: RecordingID) async throws(GatewayError) {
        try await delete(recording.key, doing: "deleting the recording \(recording.short)")
    }

    /// All known recordings, in no particular order. A record that makes no sense here is skipped.
    package func recordings() async throws(GatewayError) -> [Recording] {
        try await records(of: .recording, doing: "reading the recordings").compactMap { record in
            guard !record.isTombstone, let id = RecordingID(recordName: record.key.name) else { return nil }
            return Recording(id: id, properties: record.properties.mapValues(\.value))
        }
    }

    /// All marks that hosts share, in no particular order.
    func sharedMarks() async throws(GatewayError) -> [Mark] {
        try await records(of: .mark, doing: "reading the marks").compactMap { record in
            guard let id = RecordingID(recordName: record.key.name) else { return nil }
            return Mark(id: id, properties: record.properties.mapValues(\.value))
        }
    }

    /// The names that hosts give themselves.
    func hostNames() async throws(GatewayError) -> [HostID: String] {
        var names: [HostID: String] = [:]
        for record in try await records(of: .host, doing: "reading the names of hosts") {
            guard case .string(let name)? = record.properties["name"]?.value else { continue }
            if let host = HostID(record.key.name) { names[host] = name }
        }
        return names
    }
}

extension RecordingID {
    fileprivate var key: RecordKey { RecordKey(type: .recording, name: recordName) }
}
