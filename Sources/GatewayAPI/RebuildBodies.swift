/// `POST /v1/rebuild`.
package struct RebuildRequest: Codable, Hashable, Sendable {
    package var dry_run: Bool?

    package init(dry_run: Bool? = nil) { self.dry_run = dry_run }
}

/// Answer to `POST /v1/rebuild` for a dry run.
package struct RebuildReportBody: Codable, Hashable, Sendable {
    /// A record that a rebuild would merge into another record.
    package struct Example: Codable, Hashable, Sendable {
        package var type: String
        package var from: String
        package var into: String
        /// Properties whose values would move to the other record, sorted.
        package var moved: [String]
        /// Properties for which the other record already has a newer value, sorted.
        package var kept: [String]

        package init(type: String, from: String, into: String, moved: [String], kept: [String]) {
            self.type = type
            self.from = from
            self.into = into
            self.moved = moved
            self.kept = kept
        }
    }

    package var scanned: Int
    package var folded: Int
    package var examples: [Example]

    package static let examplesMax = 20

    package init(scanned: Int = 0, folded: Int = 0, examples: [Example] = []) {
        self.scanned = scanned
        self.folded = folded
        self.examples = examples
    }
}

/// Progress of a rebuild. Every line but the last has the state `running`.
package struct RebuildLine: Codable, Hashable, Sendable {
    package enum State: String, Codable, Hashable, Sendable {
        case running
        case complete
        /// Stopped between two steps; the next rebuild resumes there.
        case cancelled
        case failed
    }

    package var state: State
    package var version: Int?
    package var scanned: Int?
    package var folded: Int?
    package var error: ErrorBody?

    package init(
        _ state: State, version: Int? = nil, scanned: Int? = nil, folded: Int? = nil, error: ErrorBody? = nil
    ) {
        self.state = state
        self.version = version
        self.scanned = scanned
        self.folded = folded
        self.error = error
    }
}
