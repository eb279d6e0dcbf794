import Domain
import GatewayAPI

/// What `connect` waits for before it answers.
extension MeterDirectory {
    /// - Parameters:
    ///   - end: when the last of the waits is over, however long each may take by itself.
    ///   - wasWanted: before this request. If another host turns out to have a meter that was not wanted before, it
    ///     stays unwanted: somebody who was told "no" does not get it unawares an hour later.
    ///   - isSought: the meter is not here, and the zone was asked for it.
    func wait(
        for session: DeviceSession, _ request: ConnectRequest, until end: MonotonicTime?, wasWanted: Bool,
        isSought: Bool
    ) async throws(GatewayError) {
        do throws(GatewayError) {
            // In words it is as long as was asked for, which is more than what is left of it by then.
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
                // The search begins with the grant, and so does the wait for data.
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
            // A failure to remember matters less than the error thrown: it only means another try after a restart.
            _ = await remember(session.id, model: nil, isWanted: false)
            await session.disconnect()
            throw error
        }
    }

    /// - Parameter time: how long the person would wait.
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
            throw GatewayError(.permission, failure.message, next: "it is tried again by itself once that is done")
        case .notHeard(let time):
            throw GatewayError(
                .timedOut,
                "\(session.id) was not heard here within \(time.components.seconds) s, so its lease was given back",
                next: "bring it into range and switch it on; another --takeover within ten minutes takes --yes")
        case .unanswered:
            throw GatewayError(
                .timedOut, "the cloud does not answer, so nobody knows who has \(session.id)",
                next: "meterctl cloud status says why; try again once it answers")
        case .disconnected:
            throw GatewayError(
                .notConnected, "\(session.id) was disconnected while waiting for it",
                next: "meterctl connect \(session.id)")
        case .timedOut:
            let status = await session.status()
            let cause = status.error.map { ": \($0)" } ?? ""
            if let rest = status.searching_ms {
                throw GatewayError(
                    .timedOut, "\(session.id) is not heard here, and is looked for for another \(rest / 1000) s",
                    next: "then its lease is given back; meterctl status \(session.id) --watch shows how it goes")
            }
            throw GatewayError(
                .timedOut,
                "\(session.id) is \(status.state), without data after \(time.shortText)\(cause)",
                next: "it is tried for ever; meterctl status \(session.id) shows how it goes")
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
                "meterctl connect \(meter) --takeover takes it, --queue waits for it"
            }
        return GatewayError(.held, "\(holder) has \(meter)\(since.map { " \($0)" } ?? rest)", next: next)
    }
}

extension Duration {
    /// The time a client asked for, limited to between nothing and an hour.
    static func wait(_ milliseconds: Int64) -> Duration {
        .milliseconds(min(max(milliseconds, 0), 3_600_000))
    }

    /// The same, cut off where all waits are to end.
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
