import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// One TC66C that is reached over its cable and its radio.
@Suite(.timeLimit(.minutes(10)))
struct MeterAliasTests {
    private static let cable = MeterID.usb(vendor: 0x28E9, product: 0x018A, serial: "66C")
    private let store = MeterStore.temporary()
    private let bench: DirectoryBench

    init() async throws {
        bench = DirectoryBench(store)
        try await bench.directory.restore()
    }

    /// Both ids are present, wanted, and have told what they are.
    private func bothConnected(_ other: (any SimulatedMeter)? = nil) async throws {
        for (id, path) in [(MeterID.tc, "/dev/radio"), (Self.cable, "/dev/ttyACM0")] {
            try await bench.plugIn(.tc66c, id: id, at: path)
            if let other, id == Self.cable { bench.host.links.plug(other, at: path) }
            _ = try await bench.directory.connect("\(id)", ConnectRequest())
        }
        bench.host.loop.advance(by: .seconds(3))
        for id in [MeterID.tc, Self.cable] {
            // What the first one told may have merged them.
            guard let status = await bench.directory.status().first(where: { $0.id == "\(id)" }) else { continue }
            let said = try #require(status.device)
            let device = DeviceInfo(
                model: nil, serial: said.serial, firmware: said.firmware, hardware: said.hardware,
                powerOnCount: said.power_on_count)
            await bench.directory.handle(.device(device, of: id))
        }
    }

    @Test func twoIdsOfOneMeter_becomeOne_withBothLinks() async throws {
        try await bothConnected()

        let all = await bench.directory.status()
        #expect(all.map(\.id) == ["\(MeterID.tc)"])
        #expect(bench.host.links.openChannels == 1)
        #expect(try await bench.directory.session("\(Self.cable)").id == .tc)
        let record = try #require(
            try await store.record(RecordKey(type: .meterAlias, name: Self.cable.description)))
        #expect(record.properties["meter"]?.value == .string("\(MeterID.tc)"))

        await bench.directory.handle(.vanished(.of(.tc66c, id: .tc, at: "/dev/radio")))
        bench.host.loop.advance(by: .seconds(3))
        let status = try await bench.status(of: .tc)
        #expect(status.state == "data-available")
        #expect(status.port == "/dev/ttyACM0")
        #expect(await bench.leave() == .none)
    }

    @Test func twoIds_areOneAfterARestartToo() async throws {
        try await bothConnected()
        #expect(await bench.leave() == .none)

        let next = DirectoryBench(store)
        try await next.directory.restore()
        #expect(await next.directory.status().map(\.id) == ["\(MeterID.tc)"])
        try await next.plugIn(.tc66c, id: Self.cable, at: "/dev/ttyACM0")
        next.host.loop.advance(by: .seconds(3))

        #expect(await next.directory.status().map(\.id) == ["\(MeterID.tc)"])
        #expect(try await next.status(of: .tc).state == "data-available")
        #expect(await next.leave() == .none)
    }

    @Test func metersThatDiffer_stayTwo() async throws {
        try await bothConnected(SimulatorCatalogue.standard.meter(.tc66c, seed: 9))

        #expect(await bench.directory.status().count == 2)
        #expect(try await store.records(of: .meterAlias).isEmpty)
        #expect(await bench.leave() == .none)
    }

    /// A UC96 on both of its radios (aalaei/generic_power_meter): the addresses differ only in the group bit. The LE
    /// address stays, whichever was heard first.
    @Test(arguments: [false, true])
    func atorchWithTwoAddresses_isOneMeter(isClassicFirst: Bool) async throws {
        let (le, classic) = try Self.radios("3A:4E:A4:D8:C0:48", "3B:4E:A4:D8:C0:48", model: .atorchUSB)
        for sighting in isClassicFirst ? [classic, le] : [le, classic] {
            await bench.directory.handle(.appeared(sighting))
        }

        let all = await bench.directory.status()
        #expect(all.map(\.id) == ["3A:4E:A4:D8:C0:48"])
        #expect(all.first?.transports.sorted() == ["ble", "spp"])
        #expect(await bench.leave() == .none)
    }

    @Test func otherMetersWithTwoSuchAddresses_stayTwo() async throws {
        let (le, classic) = try Self.radios("02:00:00:00:25:0C", "03:00:00:00:25:0C", model: .um25c)
        await bench.directory.handle(.appeared(le))
        await bench.directory.handle(.appeared(classic))
        #expect(await bench.directory.status().count == 2)
        #expect(await bench.leave() == .none)
    }

    @Test func addressWithTheGroupBit_isFlagged() async throws {
        let (le, _) = try Self.radios("41:B8:12:0A:A8:37", "40:B8:12:0A:A8:37", model: .atorchDC)
        await bench.directory.handle(.appeared(le))
        #expect(await bench.directory.scan().map(\.flags) == [["group-bit"]])
        #expect(await bench.leave() == .none)
    }

    private static func radios(
        _ le: String, _ classic: String, model: ModelName
    ) throws -> (le: Sighting, classic: Sighting) {
        let adapter = MACAddress(bits: 0x00AA_0100_0001)
        let (first, second) = (try #require(MACAddress(le)), try #require(MACAddress(classic)))
        return (
            Sighting(
                id: .mac(first), model: model, name: nil,
                link: .ble(.init(address: first, isRandom: false, adapter: adapter))),
            Sighting(
                id: .mac(second), model: model, name: nil,
                link: .spp(.init(address: second, isRandom: false, adapter: adapter)))
        )
    }

    @Test func twoRadios_stayTwo_whateverTheySay() async throws {
        let device = DeviceInfo(model: .tc66, serial: "7", firmware: "1.18", powerOnCount: 3)
        try await bench.plugIn(.tc66c, id: .tc, at: "/dev/one")
        try await bench.plugIn(.tc66c, id: .um, at: "/dev/two")
        await bench.directory.handle(.device(device, of: .tc))
        await bench.directory.handle(.device(device, of: .um))

        #expect(await bench.directory.status().count == 2)
        #expect(await bench.leave() == .none)
    }

    @Test func cable_doesNotTellTheRadiosModel() async throws {
        try await bench.plugIn(.tc66c, id: .tc, at: "/dev/radio")
        try await bench.settings.add(alias: Self.cable, of: .tc)
        await bench.directory.handle(.appeared(.of(.tc66, id: Self.cable, at: "/dev/ttyACM0")))

        #expect(try await bench.status(of: .tc).model == "TC66C")
        #expect(await bench.leave() == .none)
    }

    @Test func aliasFromAnotherHost_counts_andTheOtherWayRoundIsRefused() async throws {
        try await bench.plugIn(.tc66c, id: .tc, at: "/dev/radio")
        try await bench.plugIn(.tc66c, id: Self.cable, at: "/dev/ttyACM0")
        try await bench.settings.add(alias: Self.cable, of: .tc)
        #expect(await bench.directory.status().map(\.id) == ["\(MeterID.tc)"])

        await #expect(throws: GatewayError.self) { try await bench.settings.add(alias: .tc, of: Self.cable) }
        #expect(try await bench.settings.aliases() == [Self.cable: .tc])
        #expect(await bench.leave() == .none)
    }

    @Test func aliasThatIsReportedLate_isTakenBackBefore() async throws {
        try await bench.plugIn(.tc66c, id: .tc, at: "/dev/radio")
        try await bench.plugIn(.tc66c, id: Self.cable, at: "/dev/ttyACM0")
        let moment = HostMoment(wall: .init(millisecondsSince1970: 0), sinceBoot: .origin)
        var outcomes: [MergeOutcome] = []
        for value in [SettingValue.string("\(MeterID.tc)"), .null] {
            let key = RecordKey(type: .meterAlias, name: Self.cable.description)
            outcomes.append(
                try await store.write([SettingChange(key: key, property: "meter", value: value)], at: moment))
        }

        for outcome in outcomes.reversed() { await bench.settings.merged(outcome) }

        #expect(await bench.directory.status().count == 2)
        #expect(await bench.leave() == .none)
    }

    @Test func circleThatHostsWroteBesideEachOther_meansTheSmallerId() async throws {
        try await bench.settings.add(alias: Self.cable, of: .tc)
        let change = SettingChange(
            key: RecordKey(type: .meterAlias, name: "\(MeterID.tc)"), property: "meter",
            value: .string("\(Self.cable)"))
        _ = try await store.write(
            [change], at: HostMoment(wall: .init(millisecondsSince1970: 0), sinceBoot: .origin))

        let (smaller, greater) = (min(Self.cable, .tc), max(Self.cable, .tc))
        #expect(try await bench.settings.aliases() == [greater: smaller])
        #expect(await bench.leave() == .none)
    }

    @Test func alias_isWrittenInOneHop() async throws {
        try await bench.settings.add(alias: Self.cable, of: .tc)

        let body = try await bench.directory.alias("\(MeterID.tc)", of: "\(MeterID.um)")
        let again = try await bench.directory.alias("\(MeterID.tc)", of: "\(MeterID.um)")

        #expect(body.meter == "\(MeterID.um)")
        #expect(again == body)
        let record = try #require(
            try await store.record(RecordKey(type: .meterAlias, name: Self.cable.description)))
        #expect(record.properties["meter"]?.value == .string("\(MeterID.um)"))
        #expect(try await bench.directory.listAliases().aliases.map(\.alias).count == 2)
        #expect(await bench.leave() == .none)
    }

    @Test func aliasOfAMeterThatWasNeverHere_isReadAllTheSame() async throws {
        try await bench.plugIn(.tc66c, id: Self.cable, at: "/dev/ttyACM0")
        _ = try await bench.directory.alias("\(Self.cable)", of: "\(MeterID.tc)")

        _ = try await bench.directory.connect("\(Self.cable)", ConnectRequest())
        bench.host.loop.advance(by: .seconds(3))

        #expect(try await bench.status(of: .tc).state == "data-available")
        #expect(await bench.leave() == .none)
    }

    @Test func unalias_isRefused_whileTheMeterIsWanted_andLasts() async throws {
        try await bothConnected()
        await #expect(throws: GatewayError.self) { try await bench.directory.unalias("\(Self.cable)") }
        _ = try await bench.directory.disconnect("\(MeterID.tc)")

        let body = try await bench.directory.unalias("\(Self.cable)")

        #expect(body.meter == "\(MeterID.tc)")
        #expect(await bench.directory.status().map(\.id).sorted() == ["\(MeterID.tc)", "\(Self.cable)"].sorted())
        // Both report again that they are the same.
        try await bothConnected()
        #expect(await bench.directory.status().count == 2)
        #expect(try await bench.settings.aliases().isEmpty)
        await #expect(throws: GatewayError.self) { try await bench.directory.unalias("\(Self.cable)") }
        #expect(await bench.leave() == .none)
    }
}
