package import Domain

/// Stores readings imported from files. Each file's readings have their own id, so that they never mix with this host's
/// measurements (Docs/Decisions/0032-imports-stand-apart.md).
package protocol ImportRepository: Sendable {
    /// Returns the ids under which imported readings are stored (`RecordingID.importStretch`).
    func importStretches() async throws -> [MeterID]
    /// Deletes all data of an import, if any. Returns the number of single readings deleted.
    @discardableResult
    func deleteImport(_ stretch: MeterID) async throws -> Int
}

extension RecordingID {
    /// Id under which a recording's imported readings are stored. No meter and no real port has such an id.
    package var importStretch: MeterID {
        .port(
            host: host.description, path: "\(Self.importPath)\(meter)/\(token)/\(started.millisecondsSince1970)")
    }

    fileprivate static let importPath = "import/"
}

extension MeterID {
    /// Whether imported readings are stored under the id.
    package var isImportStretch: Bool {
        if case .port(_, let path) = self { path.hasPrefix(RecordingID.importPath) } else { false }
    }
}
