package import Domain

/// Keeps readings that came from files, each file's under an id of its own, so that they never mix with what this host
/// measured (Docs/Decisions/0032-imports-stand-apart.md).
package protocol ImportRepository: Sendable {
    /// The ids under which such readings are stored (`RecordingID.importStretch`).
    func importStretches() async throws -> [MeterID]
    /// Deletes all that is stored under one of them. Harmless if nothing is.
    ///
    /// - Returns: number of single readings deleted.
    @discardableResult
    func deleteImport(_ stretch: MeterID) async throws -> Int
}

extension RecordingID {
    /// The id under which a recording's readings are stored where they came from a file. No port of a machine has such a
    /// path, and no meter such an id.
    package var importStretch: MeterID {
        .port(
            host: host.description, path: "\(Self.importPath)\(meter)/\(token)/\(started.millisecondsSince1970)")
    }

    fileprivate static let importPath = "import/"
}

extension MeterID {
    /// Whether readings from a file are stored under it.
    package var isImportStretch: Bool {
        if case .port(_, let path) = self { path.hasPrefix(RecordingID.importPath) } else { false }
    }
}
