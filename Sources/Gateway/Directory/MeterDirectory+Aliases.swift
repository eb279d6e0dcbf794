package import GatewayAPI
import IOPorts
import Logging
import MeterModel

/// A meter that is known by two ids, as one on a cable and on a radio is, is one meter.
extension MeterDirectory {
    /// The id of the meter that an id means.
    func canonical(_ id: MeterID) -> MeterID { aliases[id] ?? id }

    /// The meter whose port a text is, or that has it for another id. Its own id and its names are left to others.
    func exactly(_ reference: String) -> MeterID? {
        let byPort = known.values.first { $0.link?.node == reference }?.id
        return byPort ?? MeterID(reference).flatMap { aliases[$0] }
    }

    /// Looks whether a meter is here under another id already: everything that it says of itself is the same, its
    /// serial number and how often it was switched on too. Of a radio's address and any other id the address stays.
    func findTwin(of id: MeterID, _ device: DeviceInfo) async {
        guard let serial = device.serial, serial.contains(where: { $0 != "0" }), device.powerOnCount != nil else {
            return
        }
        for (other, session) in sessions where other != id && other.hasRadio != id.hasRadio {
            guard await session.device == device else { continue }
            let (alias, meter) = id.hasRadio ? (other, id) : (id, other)
            do {
                guard try await !edges.settings.isParted(alias) else { return }
                try await edges.settings.add(alias: alias, of: meter)
            } catch {
                logger.error(
                    "two ids of one meter cannot be remembered",
                    metadata: ["meter.id": "\(meter)", "alias": "\(alias)", "cause": "\(error)"])
            }
            return
        }
    }

    /// Looks whether a radio is the other half of a meter that is here: an Atorch has two addresses, one for LE and one for
    /// Classic, which differ in the group bit alone. The LE address stays the meter's.
    func findOtherRadio(of id: MeterID, over link: LinkAddress) async {
        guard case .mac(let address) = id, link.isRadio, known[id]?.model?.family == .atorch else { return }
        let twin = MeterID.mac(address.groupTwin)
        guard let other = known[twin], other.model?.family == .atorch, let otherLink = other.link,
            otherLink.isRadio, otherLink.transport != link.transport
        else { return }
        let (alias, meter) = link.transport == .spp ? (id, twin) : (twin, id)
        do {
            guard try await !edges.settings.isParted(alias) else { return }
            try await edges.settings.add(alias: alias, of: meter)
        } catch {
            logger.error(
                "two radios of one meter cannot be remembered",
                metadata: ["meter.id": "\(meter)", "alias": "\(alias)", "cause": "\(error)"])
        }
    }

    package func aliasesChanged() async {
        do {
            let before = aliases
            aliases = try await readAliases()
            for (alias, meter) in before where aliases[alias] != meter { await part(alias, from: meter) }
            for (alias, meter) in aliases where before[alias] != meter { await merge(alias, into: meter) }
        } catch {
            logger.error("the other ids of meters cannot be read", metadata: ["cause": "\(error)"])
        }
    }

    /// Takes the links of an id from the meter that it does not mean any more.
    private func part(_ alias: MeterID, from meter: MeterID) async {
        for (link, sighting) in aliasSightings where sighting.id == alias {
            aliasSightings[link] = nil
            if var former = known[meter], former.link == link {
                former.link = nil
                await saveOrLog(former)
            }
            await sessions[meter]?.vanished(from: link)
            await take(.appeared(sighting))
        }
    }

    // MARK: What people say

    /// Remembers, on every host, that two ids are one meter.
    ///
    /// - Returns: the id that it has now.
    package func alias(_ alias: String, of meter: String) async throws(GatewayError) -> MeterAliasBody {
        let other = try await anyID(alias)
        let target = try await edges.settings.add(alias: other, of: try await anyID(meter))
        return MeterAliasBody(alias: other.description, meter: target.description)
    }

    /// Parts an id from the meter that it means, on every host and to stay.
    ///
    /// - Throws: `refused` where it means none, and while this host wants the meter: it could not be told which of the two
    ///   it has.
    package func unalias(_ text: String) async throws(GatewayError) -> MeterAliasBody {
        guard let alias = MeterID(text), let meter = try await edges.settings.aliases()[alias] else {
            throw GatewayError(.refused, "\"\(text)\" is not another id of a meter", next: "meterctl alias lists them")
        }
        guard known[meter]?.isWanted != true else {
            throw GatewayError(
                .refused, "\(meter) is wanted here, and \(alias) may be the one that is connected",
                next: "let it go first: meterctl disconnect \(meter)")
        }
        try await edges.settings.part(alias, from: meter)
        return MeterAliasBody(alias: alias.description, meter: meter.description)
    }

    /// Other ids of meters, as the zone has them.
    package func listAliases() async throws(GatewayError) -> MeterAliases {
        let all = try await edges.settings.aliases().sorted { $0.key < $1.key }
        return MeterAliases(aliases: all.map { MeterAliasBody(alias: $0.key.description, meter: $0.value.description) })
    }

    /// An id, also of a meter that was never here, or a name.
    private func anyID(_ reference: String) async throws(GatewayError) -> MeterID {
        if let id = MeterID(reference), !id.isGivenByName { return id }
        return try await wanted(reference)
    }

    /// Ends the session of an id that means another meter, and gives its links to that one.
    private func merge(_ alias: MeterID, into meter: MeterID) async {
        guard let twin = drop(alias) else { return }
        let links = await twin.links.inOrder
        let model = await twin.knownModel
        let wasWanted = known[alias]?.isWanted ?? false
        logger.notice("two ids are one meter", metadata: ["meter.id": "\(meter)", "alias": "\(alias)"])
        if let forgotten = known[alias] {
            var forgotten = forgotten
            forgotten.isWanted = false
            forgotten.isDeclared = false
            await saveOrLog(forgotten)
            known[alias] = nil
        }
        for link in links { await take(.appeared(Sighting(id: alias, model: model, name: nil, link: link))) }
        if wasWanted, known[meter]?.isWanted != true {
            _ = await remember(meter, model: nil, isWanted: true)
            await sessions[meter]?.connect()
        }
    }
}

extension MeterID {
    /// It is a radio's address, which is the same on every host and over every link that has one.
    fileprivate var hasRadio: Bool {
        if case .mac = self { true } else { false }
    }
}
