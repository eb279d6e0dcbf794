package import Domain

/// Stores readings imported from files. Each file has its own meter id, so that imports never mix with measurements
/// (Docs/Decisions/0032-imports-stand-apart.md).
package protocol ImportRepository: Sendable {
    /// Returns the meter ids under which imported readings are stored (`RecordingID.importStretch`).
    func importStretches() async throws -> [MeterID]
    /// Deletes all data of an import, if any. Returns the number of deleted single readings.
    @discardableResult
    func deleteImport(_ stretch: MeterID) async throws -> Int
}

extension RecordingID {
    /// Meter id under which a recording's imported readings are stored. No meter or port has such an id.
    package var importStretch: MeterID {
        .port(
            host: host.description, path: "\(Self.importPath)\(meter)/\(token)/\(started.millisecondsSince1970)")
    }

    fileprivate static let importPath = "import/"
}

extension MeterID {
    package var isImportStretch: Bool {
        if case .port(_, let path) = self { path.hasPrefix(RecordingID.importPath) } else { false }
    }
}
