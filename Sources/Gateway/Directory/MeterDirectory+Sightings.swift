package import Domain
import Logging

extension MeterDirectory {
    package func handle(_ event: SightingEvent) async {
        guard !isShuttingDown else { return }
        switch event {
        case .appeared(var sighting):
            if let meter = aliases.meter(of: sighting.id) {
                aliases.appeared(sighting)
                await rememberPlug(of: sighting)
                (sighting.id, sighting.plug) = (meter, nil)
                // Keep the known model: over USB a meter may report a less exact one, as a TC66C reports TC66, which
                // has no radio.
                if known[meter]?.model != nil { sighting.model = nil }
            }
            do {
                let session = try await session(for: sighting)
                await session.appeared(sighting)
                await findOtherRadio(of: sighting.id, over: sighting.link)
            } catch {
                logger.error(
                    "meter session not created",
                    metadata: ["meter.id": "\(sighting.id)", "cause": "\(error)"])
            }
        case .heard(let id, let link, let rssi):
            await meters.session(of: canonical(id))?.heard(over: link, rssi: rssi)
        case .vanished(let sighting):
            aliases.vanished(from: sighting.link)
            await meters.session(of: canonical(sighting.id))?.vanished(from: sighting.link)
            forgetPasserBy(canonical(sighting.id))
        }
    }

    /// Drops the session of an absent device that was never identified as a meter, unless a user wants it.
    func forgetPasserBy(_ id: MeterID) {
        guard known[id] == nil, meters.session(of: id)?.assumeIsolated({ $0.isPasserBy }) == true else { return }
        drop(id)
    }

    package func handle(_ discovery: MeterDiscovery) async {
        switch discovery {
        case .model(let model, let id):
            var meter = known[id] ?? KnownMeter(id: id)
            guard meter.model != model else { return }
            meter.model = model
            await saveOrLog(meter)
            if let link = meter.link { await findOtherRadio(of: id, over: link) }
        case .device(let device, let id):
            await findTwin(of: id, device)
        }
    }

    private func session(for sighting: Sighting) async throws -> DeviceSession {
        var meter = known[sighting.id] ?? KnownMeter(id: sighting.id)
        meter.model = sighting.model ?? meter.model
        meter.link = sighting.link
        tellOfTwins(of: sighting)
        meter.plug = sighting.plug ?? meter.plug
        meter.lastSeen = dependencies.loop.wallNow
        // Unidentified radios are everywhere, so store them only if a user wants them.
        if meter.model != nil || meter.isWanted { await saveOrLog(meter) }
        await release(sighting.link, to: meter.id)
        if let session = meters.session(of: meter.id) { return session }
        do {
            return try await makeSession(for: meter)
        } catch {
            try checkRunning()
            logger.error("meter settings not read", metadata: ["meter.id": "\(meter.id)", "cause": "\(error)"])
            return try addSession(for: meter)
        }
    }
}

// MARK: Meters with one serial number

extension MeterDirectory {
    /// Logs once that a meter is identified by its port, because another meter has the same serial number.
    private func tellOfTwins(of sighting: Sighting) {
        guard known[sighting.id]?.plug == nil, case .usbPort(let vendor, let product, _, _) = sighting.id,
            let plug = sighting.plug, let serial = plug.serial
        else { return }
        let bySerial = MeterID.usb(vendor: vendor, product: product, serial: serial)
        let former = known[bySerial].map { _ in "; \(bySerial) is its twin, or itself as it was known before" } ?? ""
        logger.warning(
            "meter identified by USB port: serial number not unique",
            metadata: [
                "meter.id": "\(sighting.id)", "serial": "\(serial)",
                "next": "leave it in this port: in another port it counts as another meter\(former)",
            ])
    }

    private func rememberPlug(of sighting: Sighting) async {
        guard sighting.plug != nil else { return }
        let meter = KnownMeter(
            id: sighting.id, model: sighting.model, lastSeen: dependencies.loop.wallNow, plug: sighting.plug)
        do {
            try await dependencies.repository.save(meter)
        } catch {
            logger.error("USB port of meter not saved", metadata: ["meter.id": "\(meter.id)", "cause": "\(error)"])
        }
    }

    /// Identifies a plugged-in meter by its port from now on, because another meter has the same serial number.
    /// Settings and readings remain under the serial number.
    ///
    /// - Returns: nil if the meter is not plugged in or is already identified by its port.
    func partByPort(_ id: MeterID) async throws(GatewayError) -> MeterID? {
        guard case .usb(let vendor, let product, _) = id, var meter = known[id], let plug = meter.plug,
            await meters.session(of: id)?.isPresent == true
        else { return nil }
        try checkUnwanted(id, "this host wants \(id) connected")
        meter.plug = nil
        await saveOrLog(meter)
        dependencies.ports.meetAnew(id, byPort: true)
        return .usbPort(vendor: vendor, product: product, host: dependencies.hostID, path: plug.port)
    }
}

package enum MeterDiscovery: Hashable, Sendable {
    case model(ModelName, of: MeterID)
    case device(DeviceInfo, of: MeterID)
}
