import Domain
import GatewayAPI

extension MeterDirectory {
    /// - Parameters:
    ///   - end: time limit for all waits together.
    ///   - wasWanted: whether the meter was wanted before the request. If not, a wait that cannot succeed makes it
    ///     unwanted again.
    ///   - isSought: whether the meter is absent and its lease was requested.
    func wait(
        for session: DeviceSession, _ request: ConnectRequest, until end: MonotonicTime?, wasWanted: Bool,
        isSought: Bool
    ) async throws(GatewayError) {
        do throws(GatewayError) {
            // Errors contain the requested duration, not the shorter remaining one.
            func limit(_ milliseconds: Int64) -> (patience: Duration, asked: Duration) {
                (
                    .wait(milliseconds, until: end, from: dependencies.loop.now),
                    .wait(min(milliseconds, request.timeout_ms ?? milliseconds))
                )
            }
            if let queue = request.queue_ms {
                let (patience, asked) = limit(queue)
                let outcome = await session.waitForPermission(patience)
                if outcome == .timedOut, let refusal = await session.refusal {
                    throw held(session.id, refusal, "still after \(asked.shortText)")
                }
                try await check(outcome, of: session, after: asked)
            } else if isSought, let wait = request.wait_ms {
                // The time limits of the search and of the wait for data begin when the lease is granted.
                let (patience, asked) = limit(wait)
                try await check(await session.waitForPermission(patience), of: session, after: asked)
            }
            if let wait = request.wait_ms {
                let (patience, asked) = limit(wait)
                try await check(await session.waitForData(patience), of: session, after: asked)
            }
        } catch {
            var isInVain = error.code == .held
            if isSought, await session.wasNotHeard { isInVain = true }
            if await session.isBarred { isInVain = true }
            guard isInVain, !wasWanted else { throw error }
            // Ignore a failed write: its only effect is that meterd connects the meter again after a restart.
            _ = await remember(session.id, model: nil, isWanted: false)
            await session.disconnect()
            throw error
        }
    }

    private func check(
        _ outcome: DeviceSession.DataWait, of session: DeviceSession, after time: Duration
    ) async throws(GatewayError) {
        switch outcome {
        case .data, .permitted: return
        case .shuttingDown: throw shuttingDown
        case .elsewhere(let refusal): throw held(session.id, refusal, nil)
        case .barred:
            throw .mayOnlyLook("it gets no lease of \(session.id), and its zone lets nobody use a meter without one")
        case .forbidden(let failure):
            throw GatewayError(.permission, failure.message, next: "meterd retries once that is done")
        case .notHeard(let time):
            throw GatewayError(
                .timedOut,
                "\(session.id) was not heard here within \(time.components.seconds) s, so its lease was given back",
                next: "bring it into range and switch it on; another --takeover within ten minutes needs --yes")
        case .unanswered:
            throw GatewayError(
                .timedOut, "the cloud does not answer, so the holder of \(session.id) is unknown",
                next: "meterctl cloud status shows the cause; try again once the cloud answers")
        case .disconnected:
            throw GatewayError(
                .notConnected, "\(session.id) was disconnected while waiting for it",
                next: "meterctl connect \(session.id)")
        case .timedOut:
            let status = await session.status()
            let cause = status.error.map { ": \($0)" } ?? ""
            if let rest = status.searching_ms {
                throw GatewayError(
                    .timedOut, "\(session.id) is not heard here; the search continues for \(rest / 1000) s",
                    next: "then its lease is given back; meterctl status \(session.id) --watch shows the progress")
            }
            throw GatewayError(
                .timedOut,
                "\(session.id) is \(status.state), without data after \(time.shortText)\(cause)",
                next: "meterd keeps retrying; meterctl status \(session.id) shows the progress")
        }
    }

    func held(_ meter: MeterID, _ refusal: LinkRefusal, _ since: String?) -> GatewayError {
        let holder = refusal.holder ?? "another host"
        let rest = refusal.remaining.map { $0 > .zero ? " for another \($0.components.seconds) s or longer" : "" } ?? ""
        let next =
            if meters.session(of: meter)?.assumeIsolated({ $0.hasTwin }) == true {
                "it is plugged in here and there: \(meter.twinRemedy)"
            } else if dependencies.gate?.role == .readOnly {
                "meterctl watch \(meter) shows it here"
            } else {
                "meterctl connect \(meter) --takeover takes it, "
                    + (since == nil ? "--queue waits for it" : "a longer --queue goes on waiting for it")
            }
        return GatewayError(.held, "\(holder) has \(meter)\(since.map { " \($0)" } ?? rest)", next: next)
    }
}

extension Duration {
    /// Limits a wait to 0 s to 1 h.
    static func wait(_ milliseconds: Int64) -> Duration {
        .milliseconds(min(max(milliseconds, 0), 3_600_000))
    }

    static func wait(_ milliseconds: Int64, until end: MonotonicTime?, from now: MonotonicTime) -> Duration {
        let longest = wait(milliseconds)
        return end.map { min(longest, max(.zero, $0 - now)) } ?? longest
    }
}

extension ConnectOptions {
    init(_ request: ConnectRequest) {
        self.init(
            isTakeover: request.takeover ?? false, standsInLine: request.queue_ms != nil,
            isExempt: request.no_lease ?? false,
            link: request.over.flatMap { LinkPreference($0) })
    }
}
