package import Domain
package import GatewayAPI
import Logging
import MeterCodec

extension MeterDirectory {
    func canonical(_ id: MeterID) -> MeterID { aliases.canonical(id) }

    /// Returns a meter's main id and its aliases.
    package func ids(of meter: MeterID) -> [MeterID] {
        [meter] + aliases.mainIDs.filter { $0.value == meter }.map(\.key).sorted()
    }

    /// Returns the silence after which the meter's data are stale; nil for a meter without a session.
    package func staleAfter(of meter: MeterID) async -> Duration? {
        await session(of: meter)?.machine.timing.staleAfter
    }

    /// Finds a meter by its port or alias only.
    func exactly(_ reference: String) -> MeterID? {
        let byPort = known.values.first { $0.link?.node == reference }?.id
        return byPort ?? MeterID(reference).flatMap { aliases.meter(of: $0) }
    }

    /// Records an alias if another session's device reports the same information, including serial number and power-on
    /// count. A radio's address becomes the main id.
    func findTwin(of id: MeterID, _ device: DeviceInfo) async {
        guard let serial = device.serial, serial.contains(where: { $0 != "0" }), device.powerOnCount != nil else {
            return
        }
        for session in sessions where session.id != id && session.id.hasRadio != id.hasRadio {
            guard await session.device == device else { continue }
            let (alias, meter) = id.hasRadio ? (session.id, id) : (id, session.id)
            return await learn(alias, of: meter)
        }
    }

    /// Records an alias unless a user has separated the two ids.
    private func learn(_ alias: MeterID, of meter: MeterID) async {
        do {
            try await dependencies.settings.learn(alias: alias, of: meter)
        } catch {
            logger.error(
                "alias not recorded", metadata: ["meter.id": "\(meter)", "alias": "\(alias)", "cause": "\(error)"])
        }
    }

    /// Records an alias if this host also sees the meter's other radio (`FamilyDescription.hasTwinAddresses`). The LE
    /// address remains the main id.
    func findOtherRadio(of id: MeterID, over link: LinkAddress) async {
        guard case .mac(let address) = id, link.isRadio, let family = known[id]?.model?.family,
            dependencies.catalogue[family]?.hasTwinAddresses == true
        else { return }
        let twin = MeterID.mac(address.groupTwin)
        guard let other = known[twin], other.model?.family == family, let otherLink = other.link,
            otherLink.isRadio, otherLink.transport != link.transport
        else { return }
        let (alias, meter) = link.transport == .spp ? (id, twin) : (twin, id)
        await learn(alias, of: meter)
    }

    /// - Parameter shared: all aliases of the zone.
    func aliasesChanged(_ shared: [MeterID: MeterID]) async {
        let before = aliases.mainIDs
        aliases.update(shared)
        for (alias, meter) in before where aliases.meter(of: alias) != meter { await part(alias, from: meter) }
        for (alias, meter) in aliases.mainIDs where before[alias] != meter { await merge(alias, into: meter) }
    }

    /// Removes the former alias's links from the meter, then handles them like newly found devices.
    private func part(_ alias: MeterID, from meter: MeterID) async {
        for sighting in aliases.sightings(of: alias) {
            aliases.vanished(from: sighting.link)
            if var former = known[meter], former.link == sighting.link {
                former.link = nil
                await saveOrLog(former)
            }
            await meters.session(of: meter)?.vanished(from: sighting.link)
            await handle(.appeared(sighting))
        }
    }

    // MARK: Requests from people

    /// Records on every host that two ids are one meter. Returns the main id.
    package func alias(_ alias: String, of meter: String) async throws(GatewayError) -> MeterAliasBody {
        let other = try await anyID(alias)
        let target = try await dependencies.settings.add(alias: other, of: try await anyID(meter))
        return MeterAliasBody(alias: other.description, meter: target.description)
    }

    /// Separates an id from its meter permanently, on every host. Of two plugged-in meters with the same serial number,
    /// the separated one is then identified by its port.
    ///
    /// - Throws: `refused` if the id is no alias, or while this host wants the meter.
    package func unalias(_ text: String) async throws(GatewayError) -> MeterAliasBody {
        guard let alias = MeterID(text), let meter = try await dependencies.settings.aliases()[alias] else {
            if let id = MeterID(text), let byPort = try await partByPort(id) {
                return MeterAliasBody(alias: byPort.description, meter: id.description)
            }
            throw GatewayError(
                .refused, "\"\(text)\" is neither an alias nor a meter plugged in here under its serial number",
                next: "meterctl alias lists aliases, meterctl scan lists meters that are here")
        }
        try checkUnwanted(meter, "this host wants \(meter) connected, which may mean \(alias)")
        try await dependencies.settings.part(alias, from: meter)
        return MeterAliasBody(alias: alias.description, meter: meter.description)
    }

    func checkUnwanted(_ meter: MeterID, _ words: String) throws(GatewayError) {
        guard known[meter]?.isWanted == true else { return }
        throw GatewayError(.refused, words, next: "disconnect it first: meterctl disconnect \(meter)")
    }

    package func listAliases() async throws(GatewayError) -> MeterAliases {
        let all = try await dependencies.settings.aliases().sorted { $0.key < $1.key }
        return MeterAliases(aliases: all.map { MeterAliasBody(alias: $0.key.description, meter: $0.value.description) })
    }

    /// Accepts names, and ids even of unknown meters.
    private func anyID(_ reference: String) async throws(GatewayError) -> MeterID {
        if let id = MeterID(reference), !id.isGivenByName { return id }
        return try await wanted(reference)
    }

    private func merge(_ alias: MeterID, into meter: MeterID) async {
        guard let twin = drop(alias) else { return }
        let links = await twin.links.inOrder
        let model = await twin.knownModel
        let wasWanted = known[alias]?.isWanted ?? false
        logger.notice("alias merged", metadata: ["meter.id": "\(meter)", "alias": "\(alias)"])
        for keeper in dependencies.keepers {
            do {
                try await keeper.merge(alias, into: meter)
            } catch {
                logger.error(
                    "data of alias not moved to the meter",
                    metadata: ["meter.id": "\(meter)", "alias": "\(alias)", "cause": "\(error)"])
            }
        }
        if let forgotten = known[alias] {
            var forgotten = forgotten
            forgotten.isWanted = false
            forgotten.isDeclared = false
            await saveOrLog(forgotten)
            removeKnown(alias)
        }
        for link in links { await handle(.appeared(Sighting(id: alias, model: model, name: nil, link: link))) }
        if wasWanted, known[meter]?.isWanted != true {
            _ = await remember(meter, model: nil, isWanted: true)
            await meters.session(of: meter)?.connect()
        }
    }
}

extension MeterID {
    /// Whether the id is a radio's address, which is the same on every host and link.
    fileprivate var hasRadio: Bool {
        if case .mac = self { true } else { false }
    }
}
