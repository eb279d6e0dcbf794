import Domain

/// What a host asks of the cloud.
enum CloudRequest {
    case acquire(LeaseAcquire, meter: Int)
    case renew([(meter: Int, token: FencingToken)], session: SessionID)
    case release(FencingToken, meter: Int, session: SessionID)
    case enqueue(meter: Int)
    case leaveQueue(meter: Int)
    case openStream(UInt64)
    case closeStream(UInt64)
    case account
    case createZone
    case modify(OutboxBatch)
    case changes(RecordType, since: String?, limit: Int)

    /// Short, for the trace.
    var name: String {
        switch self {
        case .acquire(let request, let meter): "acquire \(meter)\(request.takeover == nil ? "" : " takeover")"
        case .renew(let leases, _): "renew \(leases.map { "\($0.meter)/\($0.token.rawValue)" })"
        case .release(let token, let meter, _): "release \(meter)/\(token.rawValue)"
        case .enqueue(let meter): "enqueue \(meter)"
        case .leaveQueue(let meter): "leave queue \(meter)"
        case .openStream(let id): "open stream \(id)"
        case .closeStream(let id): "close stream \(id)"
        case .account: "account"
        case .createZone: "create zone"
        case .modify(let batch): "modify \(batch.records.map(\.key.name))"
        case .changes(let type, let since, _): "changes \(type.rawValue) since \(since ?? "start")"
        }
    }
}

enum CloudResponse {
    case granted(LeaseView)
    case refused(LeaseAnswer.Refusal.Reason, LeaseView?, retryAfter: Duration)
    /// In the order of the request.
    case renewals([(renewal: LeaseRenewal, view: LeaseView?)])
    case account(CloudAccount)
    case pushed(PushOutcome)
    case page(ChangesPage)
    case done
    case failed(SyncFailure)

    var name: String {
        switch self {
        case .granted(let lease): "granted \(lease.token.rawValue)"
        case .refused(let reason, _, _): "refused \(reason.rawValue)"
        case .renewals(let all):
            "renewals "
                + all.map {
                    switch $0.renewal {
                    case .renewed: "renewed"
                    case .lost(let loss, _): "lost \(loss.rawValue)"
                    }
                }.joined(separator: ",")
        case .account(let account): "account \(account.epoch)"
        case .pushed(let outcome): "pushed \(outcome.results.count)"
        case .page(let page): "page \(page.records.count) to \(page.token)\(page.moreComing ? " more" : "")"
        case .done: "done"
        case .failed(let failure): "failed \(failure.kind)"
        }
    }
}

/// A request under way.
struct CloudCall {
    var id: UInt64
    var host: Int
    var run: Int
    var sentAt: TrueTime
    /// Whose records it is about: an index of `CloudZone.names`.
    var zone = 0
    var request: CloudRequest
    /// The second copy of a doubled message.
    var isCopy = false
    /// It was granted once, and others were since: nothing is to come of it.
    var isRepetition = false
}

/// What the cloud tells over an open stream.
enum StreamEvent {
    case opened
    case changed(types: [RecordType], host: HostID)
    case lease(LeaseView, meter: Int)
    case offer(meter: Int)
    case ping

    var name: String {
        switch self {
        case .opened: "opened"
        case .changed(let types, _): "changed \(types.map(\.rawValue))"
        case .lease(let lease, let meter): "lease \(meter) \(lease.state.rawValue)/\(lease.token.rawValue)"
        case .offer(let meter): "offer \(meter)"
        case .ping: "ping"
        }
    }
}
