import Domain
import Gateway
import GatewayAPI
import Logging
import MeterCodec
import MeterSimulator
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// Everything around sessions, in virtual time.
struct VirtualHost {
    let loop: VirtualLoop
    let links: SimulatedLinks
    /// What the store goes through, unless it was given.
    let access: ScriptedAccess
    let store: MeterStore
    let meters = Meters()
    let recorder: SampleRecorder
    /// What is counted of meters that count nothing.
    let counts: EnergyCounts
    let log = LogBook()
    /// What happened to the meters.
    let happened: LogKeeper

    /// - Parameters:
    ///   - loop: the loop of another host with which this one shares a clock.
    ///   - store: what the host had before a restart.
    ///   - links: the meters that were plugged in before a restart.
    init(loop: VirtualLoop = VirtualLoop(), store: MeterStore? = nil, links: SimulatedLinks? = nil) {
        self.loop = loop
        access = ScriptedAccess()
        self.store = store ?? .temporary(through: access)
        self.links = links ?? SimulatedLinks(loop: loop)
        counts = EnergyCounts(meters: meters, repository: self.store)
        recorder = SampleRecorder(
            meters: meters, repository: self.store, counts: counts, loop: loop, logger: log.logger)
        happened = LogKeeper(meters: meters, repository: self.store, loop: loop, logger: log.logger)
    }

    /// A session of a meter that is not plugged in yet.
    func session(
        _ model: ModelName?, id: MeterID = .um, isWanted: Bool = true, settings: [String: String] = [:],
        gate: (any LinkGate)? = nil, catalogue: MeterCatalogue = .standard
    ) -> DeviceSession {
        DeviceSession(
            id: id, model: model, isWanted: isWanted, settings: MeterSettings(stored: settings),
            catalogue: catalogue, loop: loop, opener: links, track: recorder.track(for: id),
            counting: counts.track(for: id), log: happened,
            rng: SplitMix64(seed: 7),
            logger: log.logger,
            gate: gate)
    }

    /// A session whose meter is already plugged in.
    func pluggedIn(
        _ model: ModelName, id: MeterID = .um, at path: String = .port, isWanted: Bool = true,
        settings: [String: String] = [:], gate: (any LinkGate)? = nil, catalogue: MeterCatalogue = .standard
    ) async throws -> DeviceSession {
        links.plug(try #require(SimulatorCatalogue.standard.meter(model)), at: path)
        let session = session(model, id: id, isWanted: isWanted, settings: settings, gate: gate, catalogue: catalogue)
        await session.appeared(.of(model, id: id, at: path))
        return session
    }

    /// The state transitions of a meter since the start, each with the previous state.
    func transitions(of id: MeterID = .um) -> [(from: String, to: String)] {
        log.entries(saying: "meter state changed").filter { $0.values["meter.id"] == "\(id)" }.map {
            ($0.values["from"] ?? "", $0.values["to"] ?? "")
        }
    }

    /// Ends the sessions and returns what is left of them.
    func leave(_ sessions: DeviceSession...) async -> Leftovers {
        for session in sessions { await session.shutdown() }
        return Leftovers(on: loop, links)
    }
}

extension DeviceSession {
    /// Puts settings in force, as the first change of them does.
    func adopt(_ texts: [String: String]) {
        let stamp = Stamp(milliseconds: 1, counter: 0, host: .temporary)
        let registers = texts.mapValues { Register(value: .string($0), stamp: stamp) }
        adopt(StoredSettings(of: id, SyncRecord(key: .settings(of: id), properties: registers), number: 1))
    }
}

extension MeterID {
    static let um = MeterID.mac(MACAddress(bits: 0x0200_0000_250C))
    static let tc = MeterID.mac(MACAddress(bits: 0x0200_0000_660C))
}

extension String {
    /// The path of a test's meter, if there is only one.
    static let port = "/dev/ttyUSB0"
    /// What no person types.
    static let endless = String(repeating: "u", count: 5000)
}

extension Sighting {
    static func of(_ model: ModelName?, id: MeterID = .um, at path: String = .port, name: String? = nil) -> Sighting {
        Sighting(id: id, model: model, name: name, link: .serial(path: path))
    }
}

extension DeviceSession {
    var state: String { status().state }
}
