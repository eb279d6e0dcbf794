package import Domain
import GatewayAPI

/// Recordings as shared records. Only the host that made a recording writes it, so leases do not apply
/// (Docs/Leases.md#rule-7).
extension SettingsService {
    /// Writes a recording; keeps stored properties that a newer version added.
    package func publish(_ recording: Recording) async throws(GatewayError) {
        try await put(recording.properties, in: recording.id.key, doing: "writing the recording \(recording.id.short)")
    }

    package func describe(_ recording: Recording) async throws(GatewayError) {
        let texts = ["name": recording.name, "note": recording.note].mapValues {
            $0.map { SettingValue.string($0) } ?? .null
        }
        try await put(texts, in: recording.id.key, doing: "writing the recording \(recording.id.short)")
    }

    /// Deletes a recording on every host, but not its readings.
    package func delete(_ recording: RecordingID) async throws(GatewayError) {
        try await delete(recording.key, doing: "deleting the recording \(recording.short)")
    }

    package func recordings() async throws(GatewayError) -> [Recording] {
        try await records(of: .recording, doing: "reading the recordings").compactMap { record in
            guard !record.isTombstone, let id = RecordingID(recordName: record.key.name) else { return nil }
            return Recording(id: id, properties: record.properties.mapValues(\.value))
        }
    }

    func sharedMarks() async throws(GatewayError) -> [Mark] {
        try await records(of: .mark, doing: "reading the marks").compactMap { record in
            guard let id = RecordingID(recordName: record.key.name) else { return nil }
            return Mark(id: id, properties: record.properties.mapValues(\.value))
        }
    }

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
