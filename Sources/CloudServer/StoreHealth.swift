package import Domain
package import Logging

/// Health of the store, checked on request.
///
/// A check locks the store for writing and reads through a fresh handle; its result is valid for 2 s. A store on a full
/// disk can still be locked and read, so after a failed write only a successful write ends the fault. Checks attempt a
/// write at most every 10 s.
package actor StoreHealth {
    private static let answerLasts = Duration.seconds(2)
    private static let betweenWrites = Duration.seconds(10)

    private let look: @Sendable (_ writes: Bool) async throws -> Void
    private let warn: @Sendable () async -> String?
    private let now: @Sendable () -> MonotonicTime
    private let logger: Logger
    /// The store's fault; nil if the store works.
    private var reason: String?
    /// Warning about a working store, if any.
    package private(set) var warning: String?
    private var needsWrite = false
    private var lookedAt: MonotonicTime?
    private var wroteAt: MonotonicTime?
    private var looking: Task<Void, Never>?

    /// - Parameters:
    ///   - look: throws if the store does not work. With `writes`, the check must include a write.
    ///   - warn: returns a warning about a working store, if any.
    package init(
        look: @escaping @Sendable (_ writes: Bool) async throws -> Void,
        warn: @escaping @Sendable () async -> String? = { nil }, now: @escaping @Sendable () -> MonotonicTime,
        logger: Logger
    ) {
        self.look = look
        self.warn = warn
        self.now = now
        self.logger = logger
    }

    package func fault() async -> String? {
        if let looking {
            await looking.value
            return reason
        }
        guard isDue else { return reason }
        let task = Task { await self.lookNow() }
        looking = task
        await task.value
        looking = nil
        return reason
    }

    package func failed(_ why: String) {
        if !needsWrite { wroteAt = now() }
        needsWrite = true
        change(to: why)
    }

    private var isDue: Bool {
        let now = now()
        if needsWrite { return wroteAt.map { now - $0 >= Self.betweenWrites } ?? true }
        return lookedAt.map { now - $0 >= Self.answerLasts } ?? true
    }

    private func lookNow() async {
        let writes = needsWrite
        if writes { wroteAt = now() }
        do {
            try await look(writes)
            if writes { needsWrite = false }
            // If a write failed during this check, keep its fault.
            if !needsWrite { change(to: nil) }
        } catch {
            if writes { needsWrite = true }
            change(to: "\(error)")
        }
        await lookForWarnings()
        lookedAt = now()
    }

    private func lookForWarnings() async {
        let new = reason == nil ? await warn() : nil
        if let new, warning == nil { logger.warning("cloud health warning raised", metadata: ["cause": "\(new)"]) }
        warning = new
    }

    private func change(to new: String?) {
        let old = reason
        reason = new
        if let new, old == nil {
            logger.error("store failed", metadata: ["cause": "\(new)"])
        } else if new == nil, let old {
            logger.notice("store recovered", metadata: ["was": "\(old)"])
        }
    }
}
