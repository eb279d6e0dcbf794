import CloudAPI
import CloudClient
import Domain
import Gateway
import SimulatedCloud

/// What a host of the zone can try beside its leases: commands that are sent again and again, meters that it invents, and
/// enrolling under a name that is taken.
extension LeaseUser {
    struct Order {
        var id: RequestID
        var meter: MeterID
        var token: FencingToken
        var calledAt: MonotonicTime
    }

    /// The cloud knows a command for at least 75 s after its end.
    private static let orderAge = Duration.seconds(60)

    // MARK: Commands

    /// Commands another host's meter, or sends a command of the last minute once more: through any copy of the cloud, and
    /// whoever has the meter by now.
    func order() async {
        await pause(rng.milliseconds(100...500))
        let since = history.now() - Self.orderAge
        orders.removeAll { $0.calledAt < since }
        let old = rng.happens(permille: 500) ? rng.pick(orders) : nil
        guard let order = old ?? newOrder(), let client = rng.pick(clients) else { return }
        let isLate = held[order.meter] != nil || seen[order.meter, default: order.token] != order.token
        // Some authors take it back, if nobody has claimed it yet.
        let patience: Duration? = rng.happens(permille: 150) ? rng.milliseconds(0...50) : nil
        guard let outcome = await outcome(of: order, through: client, takenBackAfter: patience) else { return }
        history.add(
            .heard(order.id, RelayCommandAnswer(outcome).outcome, isRepeat: old != nil, isLate: old != nil && isLate))
    }

    private func newOrder() -> Order? {
        let elsewhere = seen.filter { held[$0.key] == nil }.sorted { $0.key < $1.key }
        guard let (meter, token) = rng.pick(elsewhere) else { return nil }
        let order = Order(id: RequestID(using: &rng), meter: meter, token: token, calledAt: history.now())
        orders.append(order)
        return order
    }

    /// Nil if the answer did not come.
    private func outcome(
        of order: Order, through client: CloudClient, takenBackAfter patience: Duration?
    ) async -> RelayOutcome? {
        let sent = Task { () -> Result<RelayOutcome, SyncFailure> in
            do throws(SyncFailure) {
                return .success(
                    try await client.command(order.id, .stopRecording, of: order.meter, token: order.token))
            } catch {
                return .failure(error)
            }
        }
        if let patience {
            await pause(patience)
            sent.cancel()
        }
        switch await withTaskCancellationHandler(operation: { await sent.value }, onCancel: { sent.cancel() }) {
        case .success(let outcome): return outcome
        case .failure(let failure):
            note(failure)
            return nil
        }
    }

    /// Does it, if the cloud lets it, and tells that to any copy, or to none.
    func serve(_ command: RelayCommand, offeredBy client: CloudClient) async {
        guard held[command.meter] == command.token else { return }
        do throws(SyncFailure) {
            guard try await client.claim(command, session: session) else { return }
            history.add(.did(command.id))
            guard rng.happens(permille: 900), let any = rng.pick(clients) else { return }
            try await any.answer(command, .done(result: nil))
        } catch {
            note(error)
        }
    }

    // MARK: Meters that do not exist

    /// Acquires one and lets go of it, as long as the zone has room; and later again, which needs no room.
    func invent() async {
        let old = rng.happens(permille: 300) ? rng.pick(invented) : nil
        let meter = old ?? .usb(vendor: 0x0483, product: 0xFFFF, serial: "\(name)-\(invented.count)")
        await acquire(meter)
        guard held[meter] != nil else { return }
        if old == nil { invented.append(meter) }
        await release(meter)
    }

    // MARK: Enrolment

    /// Somebody enrols in the name of this host, whose id and machine are no secrets. This host's token stays.
    func impersonate() async {
        guard let token = rng.pick(enrolments) else { return }
        do throws(SyncFailure) {
            _ = try await CloudClient.join(
                urls: membership.urls, token: token, pin: membership.pin, as: Self.introduction(host, name))
            history.addSurprise("somebody else enrolled as \(name)")
        } catch {
            if error.kind != .permissionDenied { note(error) }
        }
    }

    static func introduction(_ host: HostID, _ name: String, showing token: Secret? = nil) -> JoinRequest {
        JoinRequest(
            hostID: host.description, hostName: name, machine: "machine of \(name)", oldTokens: token.map { [$0.text] })
    }
}
