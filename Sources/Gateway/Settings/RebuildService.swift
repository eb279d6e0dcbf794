package import Domain
package import GatewayAPI
package import Logging

/// Migrates stored records to the current naming rule (Docs/SettingsAndRebuild.md#rebuild). Each step stores its
/// progress in the same transaction, so the next run resumes after an interruption.
package actor RebuildService {
    package nonisolated let progress = Feed<RebuildProgress>()

    package enum Outcome: Hashable, Sendable {
        /// All records follow the naming rule. `scanned` also counts unchanged records.
        case complete(RebuildProgress)
        case cancelled(RebuildProgress)
    }

    private let settings: SettingsService
    private let wallNow: @Sendable () -> WallTime
    private let hasFetched: @Sendable () async -> Bool
    private let logger: Logger
    private var isRunning = false

    /// Records per transaction: some milliseconds of work.
    package static let stepLength = 500

    /// - Parameter hasFetched: whether a full fetch has completed since the start, or there is no cloud. Before that,
    ///   the rebuild's tombstones could hide another host's unfetched write.
    package init(
        settings: SettingsService, wallNow: @escaping @Sendable () -> WallTime,
        hasFetched: @escaping @Sendable () async -> Bool, logger: Logger
    ) {
        self.settings = settings
        self.wallNow = wallNow
        self.hasFetched = hasFetched
        self.logger = logger
    }

    package func status() async throws(GatewayError) -> RebuildProgress {
        try await GatewayError.doing("reading the progress of the rebuild") {
            try await settings.repository.rebuildProgress()
        }
    }

    /// Counts the changes that a complete rebuild would make, without making them.
    package func report() async throws(GatewayError) -> RebuildReportBody {
        try await GatewayError.doing("working out what a rebuild would do") {
            try await settings.repository.rebuildReport()
        }
    }

    /// Performs the remaining steps, once per version of the naming rule.
    ///
    /// - Throws: `refused` during another rebuild and before the first full fetch; `store` if the file fails.
    package func run() async throws(GatewayError) -> Outcome {
        guard !isRunning else {
            throw GatewayError(.refused, "a rebuild is under way", next: "wait for it; its progress is shown")
        }
        isRunning = true
        defer { isRunning = false }
        var present = try await status()
        if present.isComplete { return .complete(try await lookedAgain(present)) }
        guard await hasFetched() else {
            throw GatewayError(
                .refused, "not everything that the cloud knows has been read yet, so a rebuild could hide some of it",
                next: "meterctl sync now, then try again; it also runs by itself after the next complete sync")
        }
        logger.info(
            "rebuild of records started", metadata: ["version": "\(present.version)", "scanned": "\(present.scanned)"])
        while !present.isComplete {
            if Task.isCancelled {
                logger.info("rebuild of records stopped", metadata: ["scanned": "\(present.scanned)"])
                return .cancelled(present)
            }
            present = try await step()
        }
        logger.info(
            "rebuild of records complete",
            metadata: [
                "version": "\(present.version)", "scanned": "\(present.scanned)", "folded": "\(present.folded)",
            ])
        return .complete(present)
    }

    /// Counts the records again, because the store may have been empty during the rebuild.
    private func lookedAgain(_ present: RebuildProgress) async throws(GatewayError) -> RebuildProgress {
        var present = present
        present.scanned = try await report().scanned
        present.folded = 0
        return present
    }

    private func step() async throws(GatewayError) -> RebuildProgress {
        let now = wallNow()
        let (present, merge) = try await GatewayError.doing("rebuilding the records") {
            try await settings.repository.rebuildStep(recordsMax: Self.stepLength, at: now)
        }
        await settings.merged(merge, isMadeHere: true)
        progress.yield(present)
        return present
    }
}
