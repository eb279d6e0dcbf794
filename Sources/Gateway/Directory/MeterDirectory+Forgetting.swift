import Domain
package import GatewayAPI
import Logging

extension MeterDirectory {
    /// Disconnects a meter and deletes its entry and log on this host, and its settings and aliases on every host. With
    /// `readings`, also deletes its readings and local marks. Keeps recordings and shared marks.
    ///
    /// - Throws: `held` if another host holds the meter's lease; `refused` during a recording.
    package func forget(_ reference: String, readings: Bool) async throws(GatewayError) -> ForgottenMeter {
        try checkRunning()
        let id = try await forgettable(reference)
        var gone = ForgottenMeter(id: id.description)
        guard !id.isGivenByName || meters.session(of: id) != nil else {
            gone.settings = try await dependencies.settings.delete(of: id)
            return gone
        }
        try await checkUnheld(id)
        try dependencies.recordings?.checkUnrecorded(id)
        let wasDeclared = known[id]?.isDeclared ?? false
        let plug = known[id]?.plug
        dependencies.ports.unwatch(id)
        removeKnown(id)
        let session = drop(id)
        gone.name = await session?.displayName
        let links = await session?.links.inOrder ?? []
        let model = await session?.knownModel
        let count = try await GatewayError.doing("forgetting \(id)") {
            try await dependencies.repository.forget(id)
            var count = 0
            let ids = ids(of: id)
            for keeper in dependencies.keepers {
                for id in ids { count += try await keeper.forget(id, readings: readings) }
            }
            return count
        }
        gone.readings = readings ? count : nil
        gone.aliases = try await dependencies.settings.removeAliases(of: id).map(\.description)
        gone.settings = try await dependencies.settings.delete(of: id)
        logger.notice("meter forgotten", metadata: ["meter.id": "\(id)"])
        gone.is_here = !wasDeclared && !links.isEmpty
        if plug != nil { dependencies.ports.meetAnew(id, byPort: false) }
        for link in links where !wasDeclared && plug == nil {
            await handle(.appeared(Sighting(id: id, model: model, name: nil, link: link)))
        }
        return gone
    }

    /// Resolves a meter, even a hidden one whose id contains a host's name.
    private func forgettable(_ reference: String) async throws(GatewayError) -> MeterID {
        if let id = MeterID(reference), id.isGivenByName, try await !dependencies.settings.texts(of: id).isEmpty {
            return id
        }
        return try await meter(reference)
    }

    private func checkUnheld(_ id: MeterID) async throws(GatewayError) {
        guard let lease = await dependencies.gate?.look()[id], lease.state == .elsewhere || lease.state == .waiting
        else {
            return
        }
        throw GatewayError(
            .held, "\(lease.holder ?? "another host") has \(id)",
            next: "disconnect it there first: meterctl disconnect \(id)")
    }
}
