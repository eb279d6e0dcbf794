import BluetoothCore
import Domain
import Foundation
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing
import USBTransport

@testable import meterctl

// MARK: A family that does not exist: all of it is in this file

extension MeterFamily {
    fileprivate static let ohm = MeterFamily("ohm", of: MeterMaker("ohmworks"))
}

extension ModelName {
    fileprivate static let ohm1 = ModelName("ohm-1", of: .ohm, displayName: "Ohm One")
    /// An `ohm-1` with a radio.
    fileprivate static let ohm1R = ModelName("ohm-1r", of: .ohm, displayName: "Ohm One R")
}

/// Asked with `Q`, answers with a mark, volts and amperes in tenths, and their XOR.
private struct OhmFrame: FrameContent {
    static let length = 4
    static let mark: UInt8 = 0xA5
    static let question: [UInt8] = [0x51]

    var volts: UInt8
    var amperes: UInt8

    var bytes: [UInt8] { [Self.mark, volts, amperes, volts ^ amperes] }

    var model: ModelName? { nil }

    func forEachReading(_ body: (Reading) -> Void) {
        var reading = Reading()
        reading[.voltage] = Double(volts) / 10
        reading[.current] = Double(amperes) / 10
        body(reading)
    }
}

private struct OhmDecoder: BufferedFrameDecoder {
    var buffer = ReceiveBuffer(capacity: 64)

    mutating func next() -> DecodeStep? {
        guard buffer.count >= OhmFrame.length else { return nil }
        let frame = OhmFrame(volts: buffer[1], amperes: buffer[2])
        guard buffer.withBytes({ Array($0.prefix(OhmFrame.length)) }) == frame.bytes else {
            let found = buffer[0]
            buffer.drop(1)
            return .skipped(count: 1, because: .noStartMark(found: found))
        }
        buffer.take(OhmFrame.length)
        return .frame(.other(frame))
    }
}

private struct OhmDriver: MeterDriver {
    let profile: MeterProfile
    private var decoder = OhmDecoder()

    init(model: ModelName) {
        profile = MeterProfile(
            model: model, rhythm: .poll(interval: .milliseconds(500), shortest: .milliseconds(100)),
            answerTimeout: .seconds(1), commands: [.init(.rotate)])
    }

    mutating func opening() -> [Outgoing] { [] }
    mutating func poll() -> [UInt8] { OhmFrame.question }

    mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        decoder.append(bytes)
        Self.drain(&decoder, handle)
    }

    func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8] {
        try profile.validate(command)
        return [0x52]
    }

    mutating func closing() -> [Outgoing] { [] }
    mutating func discardPartial() -> Int { decoder.reset() }
}

private struct OhmFamily: FamilyDescription {
    var family: MeterFamily { .ohm }
    var models: [ModelName] { [.ohm1, .ohm1R] }

    func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        transport == .serial || transport == .ble && model == .ohm1R ? OhmDriver(model: model) : nil
    }

    var decoders: [NamedDecoder] { [NamedDecoder("ohm") { _ in OhmDecoder() }] }
    var usbDevices: [USBIdentity] { [USBIdentity(0x1209, 0x0F00, .tty, match: "Ohm", .ohm1)] }
    var usbMaker: USBMaker? { USBMaker(family.maker, vendors: [0x1209]) }
    func model(named name: AdvertisedName) -> ModelName? { name.text == "OHM1R" ? .ohm1R : nil }
    func isMakersName(_ name: String) -> Bool { name.hasPrefix("OHMWORKS") }
    var makersNameRadio: LinkAddress.Transport? { .ble }
    var radioModules: Swift.Set<RadioModule> { [.oneService] }

    var radioQuestion: RadioQuestion? {
        RadioQuestion(steps: [OhmFrame.question], makeDecoder: { OhmDecoder() }) { _, _ in .ohm1R }
    }

    var modelsWithLogs: [ModelName] { [.ohm1] }

    func logTransfer(_ wish: LogRequest, from model: ModelName) -> (any MeterTransfer<MeterLogs>)? {
        model == .ohm1 ? OhmLogs() : nil
    }
}

/// Keeps one empty log, which takes one question.
private struct OhmLogs: MeterTransfer {
    let answerTimeout = Duration.seconds(1)
    let progress = TransferProgress()

    mutating func start() -> TransferStep<MeterLogs> { .send([Outgoing(OhmFrame.question)]) }

    mutating func receive(_ bytes: [UInt8]) -> TransferStep<MeterLogs> {
        let log = MeterLog(name: "L1", sampleCount: 0, interval_ms: 1, duration_s: 0, charge_uAh: 0, energy_uWh: 0)
        return .finished(MeterLogs(device: DeviceInfo(serial: "7"), catalogue: [log]))
    }

    mutating func answerOverdue() -> TransferStep<MeterLogs> { .failed(.silent("a log")) }
}

private struct OhmSimulator: FamilySimulator {
    var family: MeterFamily { .ohm }

    func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        SimulatedOhm(model: model)
    }
}

private struct SimulatedOhm: SimulatedMeter {
    let model: ModelName
    var faults = SimulatorFaults.none

    mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        bytes == OhmFrame.question ? [OhmFrame(volts: 51, amperes: 20).bytes] : []
    }

    mutating func due(at time: Duration) -> [[UInt8]] { [] }
    var nextDue: Duration? { nil }
    mutating func powerCycle() {}
}

// MARK: What becomes of it

/// Whoever adds a family writes what stands above, and a line in each of the two lists.
@Suite(.timeLimit(.minutes(10)))
struct MadeUpFamilyTests {
    private static let catalogue = MeterCatalogue(families: MeterCatalogue.standard.families + [OhmFamily()])
    private static let simulators = SimulatorCatalogue(
        families: SimulatorCatalogue.standard.families + [OhmSimulator()], of: catalogue)
    private static let id = MeterID.mac(MACAddress(bits: 0x0200_0000_00F0))

    private let loop = VirtualLoop()
    private let log = LogBook()

    // MARK: Recognised

    @Test func usb_tellsItsModel_andItsMaker() {
        let table = DeviceTable(of: Self.catalogue)
        let meter = USBSelfDescription(vendor: 0x1209, product: 0x0F00, productText: "Ohm One", nodes: [.tty])
        let stranger = USBSelfDescription(vendor: 0x1209, product: 0x0F01)

        #expect(table.identify(meter) == .meter(.ohm1, .tty))
        #expect(table.identify(stranger) == .unrecognised(MeterMaker("ohmworks")))
        #expect(DeviceTable.builtIn.identify(meter) == .none)
    }

    @Test func name_tellsItsModel_orItsMaker() {
        func found(_ name: String, in catalogue: MeterCatalogue) -> RadioIdentification {
            RadioIdentification(name: name, services: [], kind: .lePublic, in: catalogue)
        }

        #expect(found("Ohm1R", in: Self.catalogue) == .meter(.ohm1R))
        #expect(found("Ohmworks 9", in: Self.catalogue) == .perhaps(.makersName(MeterMaker("ohmworks"))))
        #expect(found("Ohm1R", in: .standard) == .none)
    }

    @Test func sightings_tellOfIt() throws {
        let name = Array("Ohm1R".utf8)
        let data = [UInt8(name.count + 1), 0x09] + name
        let address: [UInt8] = [0xF0, 0, 0, 0, 0, 0x02, RadioAddress.Kind.lePublic.rawValue]
        let report = address + [0xC4, 0, 0, 0, 0, UInt8(data.count), 0] + data
        var sightings = RadioSightings(of: Self.catalogue)
        let event = try ([0x12, 0, 0, 0, UInt8(report.count), 0] + report).withUnsafeBytes { bytes in
            let heard = try #require(try DeviceReport(try ManagementPacket(bytes)))
            return sightings.heard(heard, by: MACAddress(bits: 1), at: loop.now)
        }

        guard case .appeared(let sighting)? = event else {
            Issue.record("it is not told of: \(String(describing: event))")
            return
        }
        #expect(sighting.model == .ohm1R)
    }

    @Test func identify_namesIt() throws {
        let rows = #"[{"vid": "1209", "pid": "0f00", "product": "Ohm One"}, {"name": "Ohm1R", "service_uuids": []}]"#
        let verdicts = try Identify.verdicts(on: Array(rows.utf8), in: "-", by: Self.catalogue)

        #expect(verdicts.map(\.model) == [.ohm1, .ohm1R])
        #expect(verdicts.map(\.transport) == ["serial", "ble"])
        #expect(verdicts.allSatisfy { $0.maker == MeterMaker("ohmworks") })
    }

    // MARK: Simulated

    @Test func simulator_isReadByItsDriver() throws {
        var meter = try #require(Self.simulators.meter(.ohm1))
        var driver = try #require(Self.catalogue.driver(for: .ohm1, over: .serial))
        var volts: [Double] = []
        for answer in meter.receive(driver.poll(), at: .zero) {
            driver.receive(answer) { event in
                guard case .frame(let frame) = event else { return }
                frame.forEachReading { $0[.voltage].map { volts.append($0) } }
            }
        }
        #expect(volts == [5.1])
        #expect(SimulatorCatalogue.standard.meter(.ohm1) == nil)
    }

    // MARK: Listed

    /// What help, errors and completions print.
    @Test func everyList_hasIt() throws {
        #expect(Self.catalogue.models.suffix(2) == [.ohm1, .ohm1R])
        #expect(Self.simulators.models.contains(.ohm1))
        #expect(Self.catalogue.model(named: "OHM-1R") == .ohm1R)
        #expect(Self.catalogue.models(over: .serial).contains(.ohm1))
        #expect(Self.catalogue.transports(of: .ohm1R) == [.serial, .ble])
        #expect(Self.catalogue.decoderNames.last == "ohm")
        #expect(Self.catalogue.decoder(named: "Ohm") != nil)
        #expect(Self.catalogue.modelsWithLogs == [.km003c, .km002c, .ohm1])
        #expect(Self.catalogue.modelsHearingPD == MeterCatalogue.standard.modelsHearingPD)
    }

    /// The two lists are one: a family that cannot be played is found here.
    @Test func everyFamily_hasASimulator() {
        let families = MeterCatalogue.standard.families.map(\.family)
        #expect(SimulatorCatalogue.standard.families.map(\.family) == families)
        #expect(Swift.Set(MeterCatalogue.standard.models.map(\.rawValue)).count == MeterCatalogue.standard.models.count)
        for family in MeterCatalogue.standard.families {
            #expect(family.models.allSatisfy { $0.family == family.family })
            #expect(!family.decoders.isEmpty)
        }
    }

    @Test func store_readsItsNameBack() async throws {
        let folder = try TemporaryFolder()
        var options = MeterStore.Options()
        options.catalogue = Self.catalogue
        let store = try MeterStore.open(path: "\(folder.path)/meters.sqlite", options: options)
        try await store.save(KnownMeter(id: Self.id, model: .ohm1))

        #expect(try await store.meters().map(\.model) == [.ohm1])
        try store.close()
    }

    // MARK: Documented

    @Test func pages_areAskedOfIt() throws {
        let folder = try TemporaryFolder()
        let pages = MeterPages(folder: URL(filePath: folder.path), catalogue: Self.catalogue)
        #expect(throws: (any Error).self) { try pages.page(of: .ohm) }

        let file = "\(pages.name(of: .ohm)).md"
        try Data("Turn the screen with `rotate`; `reset-energy` is for what meterd counts.".utf8).write(
            to: pages.folder.appending(path: file))
        try Data("| [Ohm One](\(file)) | USB |".utf8).write(to: pages.folder.appending(path: "README.md"))
        let page = try pages.page(of: .ohm)
        for rule in pages.rules(of: .ohm) {
            #expect(MeterPages.names(of: rule.kind).contains { page.contains($0) })
        }
        #expect(try pages.line(of: .ohm) != nil)
    }

    // MARK: Driven

    private func session(_ model: ModelName?, over link: LinkAddress, being real: ModelName) async throws -> (
        session: DeviceSession, links: SimulatedLinks
    ) {
        let links = SimulatedLinks(loop: loop)
        links.plug(try #require(Self.simulators.meter(real, over: link.transport)), at: link.simulatedPath)
        let recorder = SampleRecorder(
            meters: Meters(), repository: MeterStore.temporary(), loop: loop, logger: log.logger)
        let session = DeviceSession(
            id: Self.id, model: model, isWanted: true, settings: MeterSettings(stored: [:]),
            catalogue: Self.catalogue, loop: loop, opener: links, track: recorder.track(for: Self.id),
            rng: SplitMix64(seed: 7), logger: log.logger)
        await session.appeared(Sighting(id: Self.id, model: model, name: nil, link: link))
        return (session, links)
    }

    @Test func session_readsIt_commandsIt_andReadsItsLogs() async throws {
        let (session, links) = try await session(.ohm1, over: .serial(path: "/dev/ttyUSB0"), being: .ohm1)
        loop.advance(by: .seconds(3))
        let status = await session.status()
        #expect(status.state == "data-available")
        #expect(status.model == "Ohm One")
        #expect(status.counters.readings > 3)

        let command = Task.immediate { try await session.perform(MeterCommand(.rotate)) }
        loop.advance(by: .seconds(1))
        try await command.value
        #expect(links.written(to: "/dev/ttyUSB0").contains(0x52))

        let reading = Task.immediate { try await session.logs(.catalogue) }
        loop.advance(by: .seconds(5))
        #expect(try await reading.value.catalogue.map(\.name) == ["L1"])
        await session.shutdown()
        #expect(Leftovers(on: loop, links) == .none)
    }

    @Test func session_findsOutWhatItIs_overARadio() async throws {
        let radio = LinkAddress.ble(
            RadioLink(
                address: MACAddress(bits: 0x0200_0000_00F0), isRandom: false,
                adapter: MACAddress(bits: 0x00AA_0100_0001)))
        let (session, links) = try await session(nil, over: radio, being: .ohm1R)
        loop.advance(by: .seconds(20))
        let status = await session.status()
        #expect(status.state == "data-available")
        #expect(status.model == "Ohm One R")
        await session.shutdown()
        #expect(Leftovers(on: loop, links) == .none)
    }
}
