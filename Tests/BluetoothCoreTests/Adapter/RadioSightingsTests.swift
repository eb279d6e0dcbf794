import BluetoothCore
import CoreTestKit
import Domain
import MeterCodec
import Testing

struct RadioSightingsTests {
    private let adapter = MACAddress(bits: 0xA0)
    private let meter = RadioAddress(MACAddress(bits: 0x0011_2233_4455), .lePublic)
    private let named: [UInt8] = [6, 0x09] + Array("UM25C".utf8)

    @Test func meter_appears_whenFirstHeard() {
        var ears = Ears(adapter)
        let event = ears.hear(meter, named, rssi: -60)
        #expect(
            event
                == .appeared(
                    RadioSighting(device: meter, adapter: adapter, model: .um25c, name: "UM25C", rssi: -60)))
    }

    @Test func meter_isToldOfAgain_notMoreOftenThanEveryFiveSeconds() {
        var ears = Ears(adapter)
        _ = ears.hear(meter, named)
        ears.now = .seconds(4.9)
        #expect(ears.hear(meter, named) == nil)
        ears.now = .seconds(5)
        #expect(ears.hear(meter, named, rssi: -41)?.heard?.rssi == -41)
        #expect(ears.hear(meter, named) == nil)
    }

    @Test func otherDevices_areKeptInMind_andNotToldOf() {
        var ears = Ears(adapter)
        #expect(ears.hear(meter, [5, 0x09] + Array("Lamp".utf8)) == nil)
        #expect(ears.sightings.sightings.isEmpty)
        #expect(ears.count == 1)
        ears.now = .seconds(60)
        #expect(ears.count == 0)
    }

    @Test func nameThatComesLater_makesAMeterOfIt() {
        var ears = Ears(adapter)
        let first = ears.hear(meter, [3, 0x03, 0xE0, 0xFF])
        #expect(first?.appeared.map { $0.model == nil && $0.name == nil } == true)
        #expect(ears.hear(meter, named)?.appeared?.model == .um25c)
        #expect(ears.sightings.sightings.count == 1)
    }

    /// A module's own name is no model's; beside one service it is (devanlai/webvoltmeter REVERSE.md).
    @Test func serviceThatComesLater_tellsTheModel_underTheSameName() {
        var ears = Ears(adapter)
        let first = ears.hear(meter, [7, 0x09] + Array("JDY-19".utf8) + [3, 0x03, 0xE0, 0xFF])
        #expect(first?.appeared.map { $0.model == nil && $0.name == "JDY-19" } == true)
        let second = ears.hear(meter, [3, 0x03, 0xE7, 0xFE])
        #expect(second?.appeared.map { $0.model == .atorchUSB && $0.name == "JDY-19" } == true)
    }

    @Test func shortenedName_neverReplacesACompleteOne_norDoesTheModelGoAway() {
        var ears = Ears(adapter)
        _ = ears.hear(meter, named)
        #expect(ears.hear(meter, [4, 0x08] + Array("UM2".utf8)) == nil)
        #expect(ears.hear(meter, [5, 0x09] + Array("Desk".utf8))?.appeared?.name == "Desk")
        #expect(ears.sightings.sightings.first?.model == .um25c)
    }

    /// An advertisement and a scan response that come by turns: for a report both are kept, as they came.
    @Test func contentsOfAMeter_areKept_andThoseOfOthersAreNot() {
        var ears = Ears(adapter)
        let flags: [UInt8] = [2, 0x01, 0x06]
        let lamp = RadioAddress(MACAddress(bits: 0x0099), .lePublic)
        _ = ears.hear(lamp, [5, 0x09] + Array("Lamp".utf8))
        _ = ears.hear(meter, flags)
        _ = ears.hear(meter, named)
        #expect(ears.sightings.heard.map(\.data) == [[named]])
        for _ in 0..<3 {
            _ = ears.hear(meter, flags)
            _ = ears.hear(meter, named)
        }
        #expect(ears.sightings.heard.map(\.device) == [meter])
        #expect(ears.sightings.heard.first?.data == [flags, named])
        #expect(ears.sightings.strangerCount == 1)
    }

    @Test func twoMetersOfOneName_areTwo() {
        var ears = Ears(adapter)
        _ = ears.hear(meter, named)
        #expect(ears.hear(RadioAddress(MACAddress(bits: 0x0011_2233_4456), .lePublic), named)?.appeared != nil)
        #expect(ears.sightings.sightings.count == 2)
    }

    @Test func oneMeterOverBothRadios_isTwoSightings() {
        var ears = Ears(adapter)
        _ = ears.hear(meter, named)
        #expect(ears.hear(RadioAddress(meter.address, .classic), named)?.appeared != nil)
    }

    @Test func addressThatChanges_isNobodys() {
        var ears = Ears(adapter)
        let resolvable = RadioAddress(MACAddress(bits: 0x7A_0000_0000_01), .leRandom)
        let nonResolvable = RadioAddress(MACAddress(bits: 0x2A_0000_0000_01), .leRandom)
        let lasting = RadioAddress(MACAddress(bits: 0xEA_0000_0000_01), .leRandom)
        #expect(ears.hear(resolvable, named) == nil)
        #expect(ears.hear(nonResolvable, named) == nil)
        #expect(ears.hear(RadioAddress(MACAddress(bits: 0), .lePublic), named) == nil)
        #expect(ears.hear(lasting, named)?.appeared != nil)
    }

    /// DL24_BLE (syssi/esphome-atorch-dl24 issue 10), its name in the scan response alone, padded with zeros.
    @Test func publicAddressWithTheGroupBit_isAMeters() throws {
        var ears = Ears(adapter)
        let device = RadioAddress(try #require(MACAddress("41:B8:12:0A:A8:37")), .lePublic)
        #expect(ears.hear(device, [2, 1, 6, 3, 3, 0xE0, 0xFF])?.appeared?.device == device)
        let response = [0x1E, 0x09] + Array("DL24_BLE".utf8) + [UInt8](repeating: 0, count: 21)
        #expect(ears.hear(device, response)?.appeared?.model == .dl24)
    }

    @Test func whatIsNotToldOf_isCounted_withItsReason() {
        var ears = Ears(adapter)
        _ = ears.hear(meter, named)
        _ = ears.hear(RadioAddress(MACAddress(bits: 1), .lePublic), [5, 0x09] + Array("Lamp".utf8))
        _ = ears.hear(RadioAddress(MACAddress(bits: 0x7A_0000_0000_01), .leRandom), named)
        _ = ears.hear(RadioAddress(MACAddress(bits: 0x8A_0000_0000_01), .leRandom), named)
        _ = ears.hear(RadioAddress(MACAddress(bits: 0), .lePublic), named)

        let others = ears.sightings.passedOver(at: ears.now.moment)
        #expect(others.map(\.looksLikeMeter) == [true, true, true, false])
        #expect(Set(others.map(\.reason)) == [.address(.changing), .reservedAddress, .address(.blank), .noMeter])
        #expect(others.first?.sighting.name == "UM25C")
        #expect(ears.dropped == 3)
        #expect(ears.count == 5)

        ears.now = .seconds(60)
        #expect(ears.dropped == 0)
        #expect(ears.sightings.passedOver(at: ears.now.moment).isEmpty)
    }

    @Test func whatFindsNoRoom_isCounted() {
        var ears = Ears(adapter)
        for number in 0..<UInt64(RadioSightings.metersMax) {
            _ = ears.hear(RadioAddress(MACAddress(bits: 0x10 + number), .lePublic), named)
        }
        #expect(ears.dropped == 0)
        #expect(ears.hear(meter, named) == nil)
        #expect(ears.sightings.passedOver(at: ears.now.moment).map(\.reason) == [.noRoom])
        #expect(ears.dropped == 1)

        for number in 0..<UInt64(RadioSightings.devicesMax) {
            _ = ears.hear(RadioAddress(MACAddress(bits: 0x0200_0000 + number), .lePublic), [2, 1, 6])
        }
        #expect(ears.dropped > 1)
    }

    // MARK: Vanishing

    @Test func silentMeter_vanishes_afterItsTimeAndSomeDiscoveries() {
        var ears = Ears(adapter, listensTo: .lowEnergy)
        _ = ears.hear(meter, named)
        for _ in 0..<3 { ears.roundEnds() }
        ears.now = .seconds(29)
        #expect(ears.expire().isEmpty)
        ears.now = .seconds(30)
        #expect(ears.expire().count == 1)
        #expect(ears.sightings.sightings.isEmpty)
        #expect(ears.hear(meter, named)?.appeared != nil)
    }

    @Test func silentMeter_isThere_whileNobodyListens_butNotForEver() {
        var ears = Ears(adapter, listensTo: .classic)
        _ = ears.hear(meter, named)
        ears.roundEnds()
        ears.now = .seconds(899)
        #expect(ears.expire().isEmpty)
        ears.now = .seconds(900)
        #expect(ears.expire().count == 1)
    }

    /// 5 s a minute: what counts is what was listened.
    @Test func silentMeter_isGivenTime_byRoundsThatAreFarApart() {
        var ears = Ears(adapter)
        _ = ears.hear(meter, named)
        for minute in 1...5 {
            ears.now = .seconds(60 * minute)
            ears.listen(.lowEnergy, for: .seconds(5))
            #expect(ears.expire().isEmpty)
        }
        ears.now = .seconds(360)
        ears.listen(.lowEnergy, for: .seconds(5))
        #expect(ears.expire().count == 1)
    }

    @Test func interleavedRound_countsHalf_forEachRadio() {
        var ears = Ears(adapter)
        _ = ears.hear(meter, named)
        for _ in 0..<4 { ears.listen(.interleaved, for: .seconds(14)) }
        #expect(ears.expire().isEmpty)
        ears.listen(.interleaved, for: .seconds(4))
        #expect(ears.expire().count == 1)
    }

    /// A kernel that tells of no end, though devices were missed for long.
    @Test func discoveryWithoutEnd_letsASilentMeterGo() {
        var ears = Ears(adapter, listensTo: .lowEnergy)
        _ = ears.hear(meter, named)
        ears.now = .seconds(119)
        #expect(ears.expire().isEmpty)
        ears.now = .seconds(120)
        #expect(ears.expire().count == 1)
    }

    @Test func classicMeter_isGivenLonger() {
        var ears = Ears(adapter, listensTo: .classic)
        _ = ears.hear(RadioAddress(meter.address, .classic), named)
        for _ in 0..<9 { ears.roundEnds() }
        ears.now = .seconds(89)
        #expect(ears.expire().isEmpty)
        ears.now = .seconds(90)
        #expect(ears.expire().count == 1)
    }

    @Test func meterWithALink_neverVanishes_andHasItsFullTimeAfterwards() {
        var ears = Ears(adapter, listensTo: .lowEnergy)
        _ = ears.hear(meter, named)
        for _ in 0..<9 { ears.roundEnds() }
        ears.now = .seconds(1000)
        #expect(ears.expire(isLinked: true).isEmpty)
        ears.now = .seconds(1029)
        for _ in 0..<9 { ears.roundEnds() }
        #expect(ears.expire().isEmpty)
        ears.now = .seconds(1030)
        #expect(ears.expire().count == 1)
    }

    @Test func adapterThatIsLost_takesItsMetersAlong() {
        var ears = Ears(adapter)
        _ = ears.hear(meter, named)
        var other = ears
        let lost = ears.sightings.adapterLost(adapter, isLinked: { _ in false })
        #expect(lost.count == 1)
        #expect(other.sightings.adapterLost(MACAddress(bits: 1), isLinked: { _ in false }).isEmpty)
    }

    // MARK: Ends, and the second time

    /// A stranger counts for a minute, and is forgotten then.
    @Test func stranger_isForgotten_afterAMinute() {
        let lamp = RadioAddress(MACAddress(bits: 0x0099), .lePublic)
        for (seconds, isKnown) in [(59.999, true), (60, false)] {
            var ears = Ears(adapter)
            _ = ears.hear(lamp, [5, 0x09] + Array("Lamp".utf8))
            #expect(ears.sightings.isNamed(lamp, heardBy: adapter))
            #expect(!ears.sightings.isNamed(lamp, heardBy: MACAddress(bits: 1)))
            ears.now = .seconds(seconds)
            #expect(ears.count == (isKnown ? 1 : 0))
            #expect(ears.sightings.passedOver(at: ears.now.moment).count == (isKnown ? 1 : 0))
            #expect(ears.expire().isEmpty)
            #expect(ears.sightings.strangerCount == (isKnown ? 1 : 0))
            #expect(ears.sightings.isNamed(lamp, heardBy: adapter) == isKnown)
            // Who is heard again begins anew.
            _ = ears.hear(lamp, [2, 1, 6])
            ears.now += .seconds(59)
            #expect(ears.expire().isEmpty)
            #expect(ears.sightings.strangerCount == 1)
        }
    }

    /// Of what is forgotten nothing is left to the next one in its place: neither name, services nor model.
    @Test func place_isGivenOn_empty() {
        var ears = Ears(adapter, listensTo: .lowEnergy)
        _ = ears.hear(meter, named)
        _ = ears.hear(meter, [3, 0x03, 0xE0, 0xFF])
        ears.now = .seconds(900)
        #expect(ears.expire().count == 1)
        let lamp = RadioAddress(MACAddress(bits: 0x0099), .lePublic)
        #expect(ears.hear(lamp, [2, 1, 6]) == nil)
        #expect(!ears.sightings.isNamed(lamp, heardBy: adapter))
        #expect(ears.sightings.sightings.isEmpty && ears.sightings.heard.isEmpty)
        #expect(ears.sightings.strangerCount == 1)
        #expect(ears.hear(meter, named)?.appeared?.rssi == -60)
        #expect(ears.sightings.heard.map(\.data) == [[named]])
        #expect(ears.count == 2)
    }

    /// Another adapter's meters stay, and so does one with a link, which is not listened to until a discovery begins again.
    @Test func lostAdapter_takesItsOwnAlone_andItsTimeStops() {
        let other = MACAddress(bits: 0xB0)
        let linked = RadioAddress(MACAddress(bits: 0x0011_2233_4499), .lePublic)
        var ears = Ears(adapter, listensTo: .interleaved)
        for device in [meter, linked, RadioAddress(meter.address, .classic)] { _ = ears.hear(device, named) }
        _ = ears.hear(RadioAddress(MACAddress(bits: 0x0099), .lePublic), [2, 1, 6])
        _ = ears.hear(meter, named, by: other)
        let lost = ears.sightings.adapterLost(adapter, isLinked: { $0.device == linked })
        #expect(lost.count == 2)
        #expect(ears.sightings.strangerCount == 0)
        #expect(ears.sightings.sightings.map(\.device) == [linked, meter])
        #expect(ears.sightings.sightings.map(\.adapter) == [adapter, other])
        ears.now = .seconds(800)
        #expect(ears.expire().isEmpty)
        for _ in 0..<4 { ears.listen(.lowEnergy, for: .seconds(7)) }
        #expect(ears.expire().isEmpty)
        ears.listen(.lowEnergy, for: .seconds(2))
        #expect(
            ears.expire() == [
                .vanished(
                    RadioSighting(
                        device: linked, adapter: adapter, model: .um25c, name: "UM25C", rssi: -60))
            ])
    }

    /// Time counts for the radio that was listened to.
    @Test(arguments: [DiscoveryKinds.lowEnergy, .classic, .interleaved])
    func time_isOfItsRadio(kinds: DiscoveryKinds) {
        var ears = Ears(adapter)
        let classic = RadioAddress(meter.address, .classic)
        _ = ears.hear(meter, named)
        _ = ears.hear(classic, named)
        for _ in 0..<4 { ears.listen(kinds, for: .seconds(50)) }
        let gone = ears.expire().count
        #expect(gone == (kinds == .interleaved ? 2 : 1))
        #expect(
            ears.sightings.sightings.map(\.device)
                == (kinds == .interleaved ? [] : kinds == .classic ? [meter] : [classic]))
    }

    /// Three rounds and half a minute, whichever is reached last; and two rounds are not three.
    @Test func silentMeter_isGivenItsRounds() {
        for (rounds, seconds, isGone) in [
            (2, 20, false), (3, 10, true), (3, 9, false), (5, 6, true), (2, 59, false), (2, 60, true),
        ] {
            var ears = Ears(adapter)
            _ = ears.hear(meter, named)
            for _ in 0..<rounds { ears.listen(.lowEnergy, for: .seconds(seconds)) }
            #expect(ears.expire().isEmpty != isGone, "\(rounds) of \(seconds) s")
        }
    }

    @Test func strengthThatIsUnknown_leavesTheLastOne() {
        var ears = Ears(adapter)
        _ = ears.hear(meter, named, rssi: -60)
        ears.now = .seconds(5)
        // 127: the adapter does not say.
        #expect(ears.hear(meter, named, rssi: 127)?.heard?.rssi == -60)
        ears.now = .seconds(9.999)
        #expect(ears.hear(meter, named, rssi: -41) == nil)
        ears.now = .seconds(10)
        #expect(ears.hear(meter, named, rssi: -42)?.heard?.rssi == -42)
    }

    /// What found no room counts for a minute, and no more of it is kept than can be told apart.
    @Test func refusals_countForAMinute() {
        var ears = Ears(adapter)
        for number in 0..<UInt64(RadioSightings.devicesMax + 1200) {
            _ = ears.hear(RadioAddress(MACAddress(bits: 0x0200_0000 + number), .lePublic), [2, 1, 6])
        }
        #expect(ears.count == RadioSightings.devicesMax)
        #expect(ears.dropped == 1000)
        ears.now = .seconds(59)
        _ = ears.hear(RadioAddress(MACAddress(bits: 0x0300_0000), .lePublic), [2, 1, 6])
        #expect(ears.dropped == 1000)
        ears.now = .seconds(60)
        #expect(ears.dropped == 1)
        #expect(ears.sightings.droppedCount(heardBy: MACAddress(bits: 1), at: ears.now.moment) == 0)
    }

    /// What is told as news counts: five seconds from then on.
    @Test func news_beginsTheFiveSecondsAnew() {
        var ears = Ears(adapter)
        _ = ears.hear(meter, [3, 0x03, 0xE0, 0xFF])
        ears.now = .seconds(4)
        #expect(ears.hear(meter, named)?.appeared?.model == .um25c)
        ears.now = .seconds(8.999)
        #expect(ears.hear(meter, named) == nil)
        ears.now = .seconds(9)
        #expect(ears.hear(meter, named)?.heard != nil)
    }

    // MARK: Bounds

    @Test func hostileCrowd_fillsNothingWithoutEnd() {
        var ears = Ears(adapter)
        for number in 0..<10_000 as Range<UInt64> {
            _ = ears.hear(RadioAddress(MACAddress(bits: 0x0200_0000 + number), .lePublic), named)
        }
        #expect(ears.sightings.sightings.count == RadioSightings.metersMax)
        #expect(ears.count == RadioSightings.devicesMax + RadioSightings.metersMax)
        ears.now = .seconds(900)
        #expect(ears.expire().count == RadioSightings.metersMax)
        #expect(ears.hear(meter, named)?.appeared != nil)
    }

    @Test func crowdOfOthers_leavesRoomForAMeter() {
        var ears = Ears(adapter)
        for number in 0..<5000 as Range<UInt64> {
            _ = ears.hear(RadioAddress(MACAddress(bits: 0x0200_0000 + number), .lePublic), [2, 1, 6])
        }
        #expect(ears.count == RadioSightings.devicesMax)
        #expect(ears.hear(meter, named)?.appeared != nil)
    }

    /// What is there is what appeared and has not vanished, whatever was heard.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func events_addUpToWhatIsThere(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var ears = Ears(adapter, listensTo: .interleaved)
        var there: Set<RadioAddress> = []
        for _ in 0..<400 {
            ears.now += .milliseconds(rng.below(6000))
            let device = RadioAddress(
                MACAddress(bits: 0x10 + UInt64(rng.below(6))), RadioAddress.Kind.allCases[rng.below(2)])
            let data = [named, [3, 0x03, 0xE0, 0xFF], [2, 1, 6], [9, 9], []][rng.below(5)]
            if let shown = ears.hear(device, data)?.appeared { there.insert(shown.device) }
            if rng.below(3) == 0 { ears.roundEnds() }
            if rng.below(5) == 0 {
                for event in ears.expire() {
                    guard case .vanished(let gone) = event else { continue }
                    #expect(there.remove(gone.device) != nil, "seed \(seed)")
                }
            }
            #expect(Set(ears.sightings.sightings.map(\.device)) == there, "seed \(seed)")
        }
    }
}

/// Sightings and the time.
private struct Ears {
    var sightings = RadioSightings()
    var now = Duration.zero
    private let adapter: MACAddress

    private var kinds: DiscoveryKinds

    /// - Parameter kinds: of the discovery that runs from the beginning on.
    init(_ adapter: MACAddress, listensTo kinds: DiscoveryKinds = []) {
        self.adapter = adapter
        self.kinds = kinds
        sightings.discovering(kinds, isOn: true, by: adapter, at: now.moment)
    }

    /// One discovery ends, and the next one begins.
    mutating func roundEnds() {
        sightings.discovering(kinds, isOn: false, by: adapter, at: now.moment)
        sightings.discovering(kinds, isOn: true, by: adapter, at: now.moment)
    }

    mutating func listen(_ kinds: DiscoveryKinds, for length: Duration) {
        sightings.discovering(kinds, isOn: true, by: adapter, at: now.moment)
        now += length
        sightings.discovering(kinds, isOn: false, by: adapter, at: now.moment)
    }

    var dropped: Int { sightings.droppedCount(heardBy: adapter, at: now.moment) }
    var count: Int { sightings.count(heardBy: adapter, at: now.moment) }

    mutating func hear(
        _ device: RadioAddress, _ data: [UInt8], rssi: Int8 = -60, by other: MACAddress? = nil
    ) -> RadioSightingEvent? {
        ManagementSamples.found(device, rssi: rssi, data).withUnsafeBytes { bytes in
            guard let packet = try? ManagementPacket(bytes), let report = try? DeviceReport(packet) else { return nil }
            return sightings.heard(report, by: other ?? adapter, at: now.moment)
        }
    }

    mutating func expire(isLinked: Bool = false) -> [RadioSightingEvent] {
        sightings.expire(at: now.moment) { _ in isLinked }
    }
}

extension RadioSightingEvent {
    fileprivate var appeared: RadioSighting? { if case .appeared(let sighting) = self { sighting } else { nil } }
    fileprivate var heard: RadioSighting? { if case .heard(let sighting) = self { sighting } else { nil } }
}
