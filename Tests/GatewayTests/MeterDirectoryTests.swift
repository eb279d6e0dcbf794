import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct MeterDirectoryTests {
    private let store = MeterStore.temporary()
    private let bench: DirectoryBench

    init() { bench = DirectoryBench(store) }

    // MARK: - What is remembered

    @Test func meter_isRemembered_whenItIsFirstSeen() async throws {
        try await bench.plugIn(.um25c)

        #expect(
            try await store.meters() == [
                KnownMeter(
                    id: .um, model: .um25c, link: .serial(path: .port), lastSeen: bench.host.loop.wallNow)
            ])
        #expect(try await bench.status().state == "not-connected")
        #expect(try await bench.status().wanted == false)
        #expect(bench.host.links.attempts == 0)
    }

    @Test func wantedMeter_isConnectedAgain_afterARestart_withNoCommand() async throws {
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())
        #expect(await bench.leave() == .none)

        let next = DirectoryBench(store)
        try await next.directory.restore()
        #expect(try await next.status().state == "offline")
        #expect(try await next.status().wanted)
        try await next.plugIn(.um25c)
        next.host.loop.advance(by: .seconds(1))

        #expect(try await next.status().state == "data-available")
        #expect(await next.leave() == .none)
    }

    @Test func disconnect_isRemembered_overARestart() async throws {
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())
        _ = try await bench.directory.disconnect("\(MeterID.um)")
        #expect(await bench.leave() == .none)

        let next = DirectoryBench(store)
        try await next.directory.restore()
        try await next.plugIn(.um25c)
        next.host.loop.advance(by: .seconds(60))

        #expect(try await next.status().state == "not-connected")
        #expect(next.host.links.attempts == 0)
    }

    @Test func kindOfLinkAskedFor_isRemembered_untilAnyWillDo() async throws {
        try await bench.plugIn(.um25c)
        for (over, kind) in [("serial", LinkAddress.Transport.serial), (nil, .serial), ("any", nil)] {
            _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest(over: over))
            let remembered = try await store.meters().map(\.preferred)
            #expect(remembered == [kind])
        }
        await #expect(throws: GatewayError.self) {
            _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest(over: "smoke"))
        }
        #expect(await bench.leave() == .none)

        try await store.save(KnownMeter(id: .um, model: .um25c, isWanted: true, preferred: .spp))
        let next = DirectoryBench(store)
        try await next.directory.restore()
        try await next.plugIn(.um25c)
        next.host.loop.advance(by: .seconds(1))
        // The requested link is not there: another will do until it is.
        #expect(try await next.status().transport == "serial")
        #expect(await next.leave() == .none)
    }

    @Test func shutdown_isNoDisconnect() async throws {
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())

        #expect(await bench.leave() == .none)

        #expect(try await store.meters().map(\.isWanted) == [true])
    }

    @Test func settings_areRemembered_overARestart() async throws {
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.set(["name": "Bench", "poll-interval": "2s"], for: "\(MeterID.um)")

        let next = DirectoryBench(store)
        try await next.directory.restore()

        #expect(try await next.status().name == "Bench")
        #expect(try await next.status().poll_interval_ms == 2000)
    }

    // MARK: - Watching

    @Test func run_followsTheWatcher_untilItIsCancelled() async throws {
        bench.host.links.plug(try #require(SimulatorCatalogue.standard.meter(.um25c)), at: .port)
        bench.sightings.see(.appeared(.of(.um25c)))
        let running = Task { await bench.directory.run() }
        try await eventually("the meter is listed") { await !bench.directory.scan().isEmpty }
        bench.sightings.see(.vanished(.of(.um25c)))
        try await eventually("the meter is gone") { await bench.directory.scan().isEmpty }

        running.cancel()
        await running.value
        #expect(try await bench.status().state == "offline")
    }

    @Test func nothingIsTakenUp_afterTheShutdown() async throws {
        #expect(await bench.leave() == .none)

        try await bench.plugIn(.um25c)
        let failure = await bench.failure { try await $0.connect(.port, ConnectRequest(model: "um25c")) }

        #expect(failure?.code == .shuttingDown)
        #expect(await bench.directory.status().isEmpty)
        #expect(try await store.meters().isEmpty)
    }

    @Test func meterThatWasConnected_staysLeft_afterTheShutdown() async throws {
        try await bench.plugIn(.um25c)
        #expect(await bench.leave() == .none)

        let failure = await bench.failure { try await $0.connect("\(MeterID.um)", ConnectRequest()) }

        #expect(failure?.code == .shuttingDown)
        #expect(bench.host.links.attempts == 0)
    }

    // MARK: - Ports that a person declares

    @Test func declaredPort_isConnected_andWatchedAgainAfterARestart() async throws {
        bench.host.links.plug(try #require(SimulatorCatalogue.standard.meter(.um25c)), at: "/dev/rfcomm0")
        let status = try await bench.directory.connect("/dev/rfcomm0", ConnectRequest(model: "UM25C"))
        #expect(status.id == "port:pi:/dev/rfcomm0")
        #expect(status.local_only)
        let id = MeterID.port(host: "pi", path: "/dev/rfcomm0")
        #expect(status.state == "offline")
        await bench.directory.handle(.appeared(.of(.um25c, id: id, at: "/dev/rfcomm0")))
        bench.host.loop.advance(by: .seconds(1))
        #expect(try await bench.status(of: id).state == "data-available")
        #expect(await bench.leave() == .none)

        let next = DirectoryBench(store)
        try await next.directory.restore()

        #expect(next.sightings.watched == [DeclaredPort(.serial(path: "/dev/rfcomm0"), model: .um25c, id: id)])
        #expect(try await next.status(of: id).wanted)
    }

    @Test func pathWithoutADevice_makesNoMeter() async throws {
        bench.sightings.miss("/dev/ttyUSB00")

        let failure = await bench.failure { try await $0.connect("/dev/ttyUSB00", ConnectRequest(model: "um25c")) }

        #expect(failure?.code == .noSuchMeter)
        #expect(failure?.message == "no device is at /dev/ttyUSB00")
        #expect(await bench.directory.status().isEmpty)
        #expect(try await store.meters().isEmpty && bench.sightings.watched.isEmpty)
        #expect(await bench.leave() == .none)
    }

    @Test func declaredPort_thatIsUnplugged_isStillConnected() async throws {
        _ = try await bench.directory.connect("/dev/ttyUSB0", ConnectRequest(model: "um25c"))
        bench.sightings.miss("/dev/ttyUSB0")

        _ = try await bench.directory.connect("/dev/ttyUSB0", ConnectRequest(model: "um25c"))

        #expect(await bench.leave() == .none)
    }

    @Test func declaredPort_mayBeNamedByItsPath() async throws {
        _ = try await bench.directory.connect("/dev/rfcomm0", ConnectRequest(model: "um25c", id: "aabbccddeeff"))

        #expect(try await bench.directory.disconnect("/dev/rfcomm0").id == "AA:BB:CC:DD:EE:FF")
    }

    @Test func declaredPort_ofTheConfiguration_isWantedUnlessSomebodyLetItGo() async throws {
        let port = DeclaredPort(.serial(path: "/dev/rfcomm0"), model: .um25c, id: .um, name: "bench")
        try await bench.directory.declare(port, wanted: true)
        #expect(try await bench.status().wanted)
        _ = try await bench.directory.disconnect("\(MeterID.um)")

        let next = DirectoryBench(store)
        try await next.directory.restore()
        try await next.directory.declare(port, wanted: true)

        #expect(try await next.status().wanted == false)
        #expect(next.sightings.watched == [port])
    }

    @Test func portDeclaredForAnotherMeter_belongsToThatOneAlone() async throws {
        bench.host.links.plug(try #require(SimulatorCatalogue.standard.meter(.um25c)), at: .port)
        _ = try await bench.directory.connect(.port, ConnectRequest(model: "um25c"))
        bench.host.loop.advance(by: .seconds(1))

        let status = try await bench.directory.connect(.port, ConnectRequest(model: "um25c", id: "\(MeterID.um)"))
        await bench.directory.handle(.appeared(.of(.um25c)))
        bench.host.loop.advance(by: .seconds(1))

        #expect(status.id == "\(MeterID.um)")
        #expect(try await bench.status().state == "data-available")
        #expect(try await bench.status(of: .port(host: "pi", path: .port)).state == "offline")
        #expect(bench.host.links.openChannels == 1)
        let next = DirectoryBench(store)
        try await next.directory.restore()
        #expect(next.sightings.watched.map(\.id) == [.um])
    }

    @Test func portOfAWantedMeter_isNotTakenAway_byASlip() async throws {
        _ = try await bench.directory.connect(.port, ConnectRequest(model: "um25c", id: "\(MeterID.um)"))

        let failure = await bench.failure {
            try await $0.connect(.port, ConnectRequest(model: "tc66c", id: "aabbccddeeff"))
        }

        #expect(failure?.code == .refused)
        #expect(failure?.message == "/dev/ttyUSB0 is the port of 02:00:00:00:25:0C")
        _ = try await bench.directory.disconnect("\(MeterID.um)")
        let status = try await bench.directory.connect(.port, ConnectRequest(model: "tc66c", id: "aabbccddeeff"))
        #expect(status.id == "AA:BB:CC:DD:EE:FF")
    }

    @Test func onePort_underTwoPaths_isOneMeter() async throws {
        bench.sightings.link("/dev/serial/by-id/usb-meter", to: .port)
        _ = try await bench.directory.connect("/dev/serial/by-id/usb-meter", ConnectRequest(model: "um25c"))

        let failure = await bench.failure { try await $0.connect(.port, ConnectRequest(model: "um25c")) }

        #expect(failure?.code == .refused)
        #expect(failure?.message == "/dev/ttyUSB0 is the port of port:pi:/dev/serial/by-id/usb-meter")
    }

    @Test func anotherMeterOnTheSameNode_isTheOneThatThePathMeans() async throws {
        let first = MeterID.usb(vendor: 0x5FC9, product: 0x63, serial: "A")
        let second = MeterID.usb(vendor: 0x5FC9, product: 0x63, serial: "B")
        try await bench.plugIn(.km003c, id: first, at: "/dev/ttyACM0")
        await bench.directory.handle(.vanished(.of(.km003c, id: first, at: "/dev/ttyACM0")))
        try await bench.plugIn(.km003c, id: second, at: "/dev/ttyACM0")

        #expect(try await bench.directory.connect("/dev/ttyACM0", ConnectRequest()).id == "\(second)")
    }

    @Test(arguments: [
        (String.port, ConnectRequest(model: "um99"), "\"um99\" is not a model"),
        (.port, ConnectRequest(id: "aabbccddeeff"), "no model was given for /dev/ttyUSB0"),
        (.port, ConnectRequest(model: "fnb58"), "a FNB58 cannot be read over a serial port yet"),
        (.port, ConnectRequest(model: "um25c", id: "bench"), "\"bench\" is not a meter id"),
        (.port, ConnectRequest(model: .endless), "\"\(String.endless.prefix(79))…\" is not a model"),
        (.port, ConnectRequest(model: "um25c", id: .endless), "\"\(String.endless.prefix(79))…\" is not a meter id"),
        ("bench", ConnectRequest(model: "um25c"), "\"bench\" is not a device path, so it takes no model or id"),
    ])
    func declaring_saysWhatIsWrong(_ path: String, _ request: ConnectRequest, _ message: String) async throws {
        let failure = await bench.failure { try await $0.connect(path, request) }

        #expect(failure?.code == .badRequest)
        #expect(failure?.message == message)
        #expect(failure?.next.isEmpty == false)
        #expect(try await store.meters().isEmpty)
        #expect(bench.sightings.watched.isEmpty)
    }

    @Test func rawHIDPort_isReadOverIt_andKnownAfterARestart() async throws {
        let path = "/dev/hidraw3"
        bench.host.links.plug(try #require(SimulatorCatalogue.standard.meter(.fnb48, over: .hid)), at: path)
        let port = DeclaredPort(.hid(path: path), model: .fnb48, name: "bench")
        try await bench.directory.declare(port, wanted: true)
        let id = MeterID.port(host: "pi", path: path)
        await bench.directory.handle(.appeared(Sighting(id: id, model: .fnb48, name: nil, link: .hid(path: path))))
        bench.host.loop.advance(by: .seconds(3))

        let status = try await bench.status(of: id)
        #expect(status.transport == "hid")
        #expect(status.state == "data-available")
        #expect(await bench.leave() == .none)

        let next = DirectoryBench(store)
        try await next.directory.restore()
        #expect(next.sightings.watched == [DeclaredPort(.hid(path: path), model: .fnb48, id: id)])
    }

    @Test func pathOfARawHIDNode_takesAModelThatHasOne() async throws {
        let refusal = await bench.failure { try await $0.connect("/dev/hidraw3", ConnectRequest(model: "um25c")) }
        #expect(refusal?.message == "a UM25C cannot be read over a raw HID device yet")

        let status = try await bench.directory.connect("/dev/hidraw3", ConnectRequest(model: "c1"))
        #expect(status.id == "port:pi:/dev/hidraw3")
        #expect(bench.sightings.watched.map(\.link.transport) == [.hid])
        #expect(await bench.leave() == .none)
    }

    /// However it is declared: a meter from the configuration is refused at the start too, instead of being tried in
    /// vain.
    @Test func modelWithoutADriver_isRefused_fromTheConfigurationToo() async throws {
        let failure = await bench.failure {
            try await $0.declare(DeclaredPort(.serial(path: .port), model: .fnb58), wanted: true)
        }

        #expect(failure?.message == "a FNB58 cannot be read over a serial port yet")
        #expect(try await store.meters().isEmpty)
        #expect(bench.sightings.watched.isEmpty)
    }

    // MARK: - Connecting

    @Test func connect_returnsWithData_whenAskedToWait() async throws {
        try await bench.plugIn(.um25c)

        let connecting = Task { try await bench.directory.connect("\(MeterID.um)", ConnectRequest(wait_ms: 10_000)) }
        let status = try await bench.host.loop.advance(until: connecting)

        #expect(status.state == "data-available")
        #expect(status.reading?.reading[.voltage] != nil)
    }

    @Test func connect_timesOut_andSaysWhatIsWrong_andGoesOnTrying() async throws {
        try await bench.plugIn(.um25c)
        bench.host.links.refuse(.port, with: ChannelFailure(.busy, "somebody has /dev/ttyUSB0"))

        let connecting = Task { try await bench.directory.connect("\(MeterID.um)", ConnectRequest(wait_ms: 5000)) }
        let error = await #expect(throws: GatewayError.self) { try await bench.host.loop.advance(until: connecting) }

        #expect(error?.code == .timedOut)
        #expect(error?.message.hasSuffix("without data after 5s: somebody has /dev/ttyUSB0") == true)
        #expect(try await bench.status().wanted)
        bench.host.links.refuse(.port, with: nil)
        bench.host.loop.advance(by: .seconds(72))
        #expect(try await bench.status().state == "data-available")
    }

    /// Waiting would not help, so the person is told at once; attempts continue all the same.
    @Test func connect_saysAtOnce_thatThereIsNoPermission() async throws {
        try await bench.plugIn(.um25c)
        bench.host.links.refuse(.port, with: ChannelFailure(.permission, "no permission to open /dev/ttyUSB0"))

        let connecting = Task { try await bench.directory.connect("\(MeterID.um)", ConnectRequest(wait_ms: 60_000)) }
        let error = await #expect(throws: GatewayError.self) { try await bench.host.loop.advance(until: connecting) }

        #expect(error?.code == .permission)
        #expect(error?.message == "no permission to open /dev/ttyUSB0")
        bench.host.links.refuse(.port, with: nil)
        bench.host.loop.advance(by: .seconds(72))
        #expect(try await bench.status().state == "data-available")
    }

    @Test func name_standsForOneMeter() async throws {
        try await bench.directory.restore()
        try await bench.plugIn(.um25c)
        try await bench.plugIn(.tc66c, id: .tc, at: "/dev/ttyACM0")
        _ = try await bench.directory.set(["name": "Bench"], for: "\(MeterID.um)")

        let failure = await bench.failure { try await $0.set(["name": "bench"], for: "\(MeterID.tc)") }

        #expect(failure?.message == "02:00:00:00:25:0C is called \"bench\" already")
    }

    @Test func connect_needsAModel() async throws {
        await bench.directory.handle(.appeared(.of(nil)))

        let failure = await bench.failure { try await $0.connect("\(MeterID.um)", ConnectRequest()) }

        #expect(failure?.code == .modelUnknown)
        #expect(failure?.next == "name its port and model: meterctl connect /dev/… --model MODEL")
        #expect(try await bench.status().wanted == false)
    }

    @Test func unknownMeter_isNoSuchMeter() async {
        let failure = await bench.failure { try await $0.disconnect("bench") }

        #expect(failure?.code == .noSuchMeter)
        #expect(failure?.message == "no meter is called \"bench\"")
    }

    @Test func meter_mayBeCalledByItsName() async throws {
        try await bench.directory.restore()
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.set(["name": "Bench meter"], for: "\(MeterID.um)")

        #expect(try await bench.directory.session("bench").id == .um)
    }

    // MARK: - Settings

    @Test func settings_takeEffect_andNullTakesThemBack() async throws {
        try await bench.directory.restore()
        try await bench.plugIn(.um25c)
        let set = try await bench.directory.set(["poll-interval": "2s"], for: "\(MeterID.um)")
        #expect(set == SettingsBody(settings: ["poll-interval": "2s"]))
        #expect(try await bench.status().poll_interval_ms == 2000)

        #expect(try await bench.directory.set(["poll-interval": nil], for: "\(MeterID.um)").settings.isEmpty)

        #expect(try await bench.status().poll_interval_ms == 500)
        #expect(try await bench.directory.settingsInDetail(of: "\(MeterID.um)").settings.isEmpty)
    }

    @Test func illegalSetting_changesNothing() async throws {
        try await bench.plugIn(.um25c)

        let failure = await bench.failure {
            try await $0.set(["name": "Bench", "poll-interval": "50ms"], for: "\(MeterID.um)")
        }

        #expect(failure?.code == .badRequest)
        #expect(failure?.next == "the shortest is 100ms")
        #expect(try await bench.directory.settingsInDetail(of: "\(MeterID.um)").settings.isEmpty)
        #expect(try await bench.status().name == nil)
    }

    @Test func meterThatIsNotHere_isSetAndRead_byIdAndByName() async throws {
        try await bench.receive(["name": .string("Attic meter")])

        let set = try await bench.directory.set(["brightness": "3", "notes": nil], for: "attic")

        #expect(set.settings == ["name": "Attic meter", "brightness": "3"])
        // A command does that once. Nothing keeps the change from other hosts.
        #expect(set.once == ["brightness": "brightness"] && set.stays_here == nil)
        #expect(try await bench.directory.settingsInDetail(of: "02-00-00-00-25-0c").settings == set.settings)
        #expect(try await bench.directory.meter("attic m") == .um)
        let failure = await bench.failure { try await $0.connect("attic", ConnectRequest()) }
        #expect(failure?.code == .refused)
        #expect(failure?.message.contains("has never met") == true)
    }

    /// As what is imported may belong to one that is met later, or never here.
    @Test func meterThatNobodyHasMet_isSetByItsWholeID() async throws {
        let texts = try await bench.directory.set(["filter": "off"], for: "02-00-00-00-25-99").settings

        #expect(texts == ["filter": "off"])
        #expect(try await bench.directory.settingsInDetail(of: "02:00:00:00:25:99").settings == texts)
        for text in ["02:00:00:00:24", "port:elsewhere:/dev/ttyUSB0"] {
            let failure = await bench.failure { try await $0.set(["filter": "off"], for: text) }
            #expect(failure?.code == .noSuchMeter)
        }
    }

    @Test func nameOfAMeter_thatIsNotHere_isTaken() async throws {
        try await bench.receive(["name": .string("Attic meter")])
        try await bench.plugIn(.tc66c, id: .tc, at: "/dev/ttyACM0")

        let failure = await bench.failure { try await $0.set(["name": "attic METER"], for: "\(MeterID.tc)") }

        #expect(failure?.message == "02:00:00:00:25:0C is called \"attic METER\" already")
    }

    @Test func settingOfAnotherHost_reachesTheConnectedMeter_atOnce() async throws {
        try await bench.directory.restore()
        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())
        bench.host.loop.advance(by: .seconds(2))

        try await bench.receive(["brightness": .int(1), "poll-interval": .int(3000), "name": .string("Attic")])
        bench.host.loop.advance(by: .seconds(2))

        #expect(bench.host.links.written(to: .port).contains(0xD1))
        #expect(try await bench.status().poll_interval_ms == 3000)
        #expect(try await bench.directory.session("attic").id == .um)
    }

    @Test func mergeThatIsReportedLate_takesNothingBack() async throws {
        try await bench.directory.restore()
        try await bench.plugIn(.um25c)
        let late = try await bench.apply(["poll-interval": .int(2000), "notes": .string("x")])

        _ = try await bench.directory.set(["poll-interval": "3s"], for: "\(MeterID.um)")
        #expect(try await bench.status().poll_interval_ms == 3000)
        await bench.settings.merged(late)

        #expect(try await bench.status().poll_interval_ms == 3000)
        #expect(await bench.settings.refreshVersion == 2)
    }

    @Test func whatChanged_isInForce_withoutBeingReadAgain() async throws {
        let bench = DirectoryBench()
        try await bench.directory.restore()
        try await bench.plugIn(.um25c)
        let reads = bench.host.access.reads

        let set = try await bench.directory.set(["poll-interval": "3s"], for: "\(MeterID.um)")
        #expect(set.settings == ["poll-interval": "3s"])
        #expect(try await bench.status().poll_interval_ms == 3000)
        try await bench.receive(["poll-interval": .int(2000)])
        #expect(try await bench.status().poll_interval_ms == 2000)
        #expect(bench.host.access.reads == reads)

        // Only what was an alias before is looked up.
        try await bench.settings.add(alias: .tc, of: .um)
        #expect(bench.host.access.reads == reads + 1)
        #expect(try await bench.directory.session("\(MeterID.tc)").id == .um)
    }

    @Test func settingOfAMeter_thatIsNotHere_waitsForIt() async throws {
        try await bench.directory.restore()
        try await bench.receive(["brightness": .int(1)])

        try await bench.plugIn(.um25c)
        _ = try await bench.directory.connect("\(MeterID.um)", ConnectRequest())
        bench.host.loop.advance(by: .seconds(2))

        #expect(bench.host.links.written(to: .port).contains(0xD1))
    }
}
