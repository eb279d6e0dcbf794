package import Domain
package import GatewayAPI
package import Logging

/// Brings the stored records up to the present rule of names (Docs/SettingsAndRebuild.md#rebuild), in steps: each is
/// one transaction with its progress, so it can be stopped between any two steps and continues there.
package actor RebuildService {
    /// The progress, after each step.
    package nonisolated let progress = Feed<RebuildProgress>()

    /// How a run ended.
    package enum Outcome: Hashable, Sendable {
        /// Everything follows the rule. If it already did, `scanned` is the number of records examined to find that
        /// out.
        case complete(RebuildProgress)
        /// Its task was cancelled. Finished work is kept.
        case cancelled(RebuildProgress)
    }

    private let settings: SettingsService
    private let wallNow: @Sendable () -> WallTime
    private let hasFetched: @Sendable () async -> Bool
    private let logger: Logger
    private var isRunning = false

    /// Number of records examined in one transaction: some milliseconds of work.
    package static let stepLength = 500

    /// - Parameter hasFetched: whether everything that the cloud knew has been read since the start, or there is no
    ///   cloud. Before that, a record's tombstone could hide what another host wrote under its name and this one never
    ///   saw.
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
        try await settings.asking("reading the progress of the rebuild") { [settings] in
            try await settings.repository.rebuildProgress()
        }
    }

    /// What a rebuild from the beginning would do. Changes nothing.
    package func report() async throws(GatewayError) -> RebuildReportBody {
        try await settings.asking("working out what a rebuild would do") { [settings] in
            try await settings.repository.rebuildReport()
        }
    }

    /// Does what is left to do, once for each version of the rule.
    ///
    /// - Throws: `refused` while another run is under way, and before the first complete fetch; `store` if the file
    ///   fails.
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
        logger.info("rebuild started", metadata: ["version": "\(present.version)", "scanned": "\(present.scanned)"])
        while !present.isComplete {
            if Task.isCancelled {
                logger.info("rebuild stopped", metadata: ["scanned": "\(present.scanned)"])
                return .cancelled(present)
            }
            present = try await step()
        }
        logger.info(
            "rebuild complete",
            metadata: [
                "version": "\(present.version)", "scanned": "\(present.scanned)", "folded": "\(present.folded)",
            ])
        return .complete(present)
    }

    /// Examines the records again although nothing is left to do, because the first scan may have met an empty store.
    private func lookedAgain(_ present: RebuildProgress) async throws(GatewayError) -> RebuildProgress {
        var present = present
        present.scanned = try await report().scanned
        present.folded = 0
        return present
    }

    private func step() async throws(GatewayError) -> RebuildProgress {
        let now = wallNow()
        let (present, merge) = try await settings.asking("rebuilding the records") { [settings] in
            try await settings.repository.rebuildStep(recordsMax: Self.stepLength, at: now)
        }
        await settings.merged(merge, isMadeHere: true)
        progress.yield(present)
        return present
    }
}
