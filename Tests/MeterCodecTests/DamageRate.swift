import Domain
import MeterCodec
import Testing

/// How many damaged frames in a driver's stream come out with a voltage, current or power that no good frame has.
///
/// Each damaged frame takes the place of one in a row of good ones, as the meter sent them: three before it and two behind it.
/// The damage is that of `CorruptedFrames`.
struct DamageRate: CustomStringConvertible {
    /// Damaged frames that were tried.
    private(set) var damaged = 0
    /// Those after which a value was told that no good frame has.
    private(set) var wrong = 0
    /// Of these, those after which one is more than 5 % away from each that a good frame has.
    private(set) var farOff = 0
    let seed: UInt64

    /// Wrong ones, of 100,000.
    var rate: Int { damaged == 0 ? 0 : wrong * 100_000 / damaged }

    var description: String {
        let far = damaged == 0 ? 0 : farOff * 100_000 / damaged
        return
            "\(rate) of 100,000 are wrong, \(far) by more than 5 % (\(wrong) and \(farOff) of \(damaged); seed \(seed))"
    }

    private static let judged: [Quantity] = [.voltage, .current, .power]
    private static let (before, behind) = (3, 2)

    /// - Parameters:
    ///   - frames: at least six, as a meter sent them.
    ///   - make: creates the driver of a new link.
    ///   - address: makes a frame the answer to the driver's next request, where answers name what they answer.
    init(
        of frames: [[UInt8]], count: Int, seed: UInt64 = 1, make: () -> any MeterDriver,
        address: (inout any MeterDriver, [UInt8]) -> [UInt8] = { $1 }
    ) {
        self.seed = seed
        var rng = SplitMix64(seed: seed)
        let good = Self.values(of: frames, make: make, address: address)
        for number in 0..<count {
            let places = frames.count - Self.before - Self.behind
            let first = Int(rng.next() % UInt64(max(1, places)))
            let row = Array(frames[first..<min(first + Self.before + Self.behind + 1, frames.count)])
            let frame = row[Self.before]
            let damage = CorruptedFrames.damage(frame, frames, kind: number % 6, &rng)
            guard damage != frame else { continue }
            damaged += 1
            var driver = make()
            _ = driver.opening()
            var (isWrong, isFar) = (false, false)
            for (place, bytes) in row.enumerated() {
                var sent = address(&driver, bytes)
                if place == Self.before { sent = Self.damaged(sent, as: damage, from: bytes) }
                Self.readings(sent, &driver) { reading in
                    for (quantity, values) in zip(Self.judged, good) {
                        guard let value = reading[quantity], !values.contains(value) else { continue }
                        isWrong = true
                        if values.allSatisfy({ abs(value - $0) > 0.05 * max(abs(value), abs($0)) }) { isFar = true }
                    }
                }
            }
            wrong += isWrong ? 1 : 0
            farOff += isFar ? 1 : 0
        }
    }

    /// The damage to a frame, with what addresses the present one to the driver where that was spared.
    private static func damaged(_ sent: [UInt8], as damage: [UInt8], from bytes: [UInt8]) -> [UInt8] {
        guard sent != bytes, damage.count > 1, damage[0] == bytes[0], damage[1] == bytes[1] else { return damage }
        return [damage[0], sent[1]] + damage.dropFirst(2)
    }

    private static func readings(_ bytes: [UInt8], _ driver: inout any MeterDriver, _ body: (Reading) -> Void) {
        driver.receive(bytes) { event in
            switch event {
            case .frame(let frame), .confirmed(let frame): frame.forEachReading(body)
            default: break
            }
        }
    }

    /// What the good frames hold, of each judged quantity.
    private static func values(
        of frames: [[UInt8]], make: () -> any MeterDriver, address: (inout any MeterDriver, [UInt8]) -> [UInt8]
    ) -> [Set<Double>] {
        var driver = make()
        _ = driver.opening()
        var values = judged.map { _ in Set<Double>() }
        for frame in frames {
            readings(address(&driver, frame), &driver) { reading in
                for (place, quantity) in judged.enumerated() { reading[quantity].map { _ = values[place].insert($0) } }
            }
        }
        return values
    }
}

/// The rates that stand in Docs/Protocols/Identification.md, a table that `print` gives with each run.
struct DamageRateTests {
    /// Frames of real meters, each with its source, in the order in which they came.
    private static let series: [(name: String, frames: [String], model: ModelName, transport: LinkAddress.Transport)] =
        [
            ("J7-C", j7c, .atorchUSB, .ble), ("DL24M", dl24m, .atorchDC, .ble), ("S1", s1, .atorchAC, .ble),
            ("UD18", ud18, .atorchUSB, .spp), ("KM001 Pro", [km001Pro], .km001Pro, .hid),
            ("ACD15P", [acd15p], .acd15p, .hid), ("KM003C", km003c, .km003c, .serial),
            ("FNB58, type 04", ["aa040ccb170300824e00006937060024"], .fnb58, .ble),
        ]

    /// The most wrong ones of 100,000, by name.
    private static let goals = [
        "J7-C": 2000, "DL24M": 2100, "S1": 1700, "UD18": 50, "KM001 Pro": 4500, "ACD15P": 4500, "KM003C": 5200,
        "FNB58, type 04": 30,
    ]

    /// In the suite, fewer: the rate is that of 100,000 to a tenth.
    private static let count = 20_000

    @Test(arguments: series.map(\.name))
    func damagedFrames_hardlyEverBecomeValues(name: String) throws {
        let series = try #require(Self.series.first { $0.name == name })
        // A meter of which one frame is public sends it again and again.
        let frames = try (0..<12).map { try hex(series.frames[$0 % series.frames.count]) }
        let driver = try #require(MeterCatalogue.standard.driver(for: series.model, over: series.transport))
        let rate = DamageRate(of: frames, count: Self.count, make: { driver }) { driver, frame in
            guard series.model == .km003c else { return frame }
            return [frame[0], driver.poll()[1]] + frame.dropFirst(2)
        }
        print("DamageRate \(name): \(rate)")
        #expect(rate.damaged > 15_000)
        if let goal = Self.goals[name] { #expect(rate.rate <= goal, "\(rate)") }
    }

    // syssi/esphome-atorch-dl24, docs/pdus/atorch-j7-c.txt.
    static let j7c = [
        "ff5501030007ef00002300015a000002bf00090009001f000026003c0dac01220320000d",
        "ff5501030007f000002100015a000002bf00090009001f000026013c0dac0122032000be",
        "ff5501030007ef00002300015a000002bf00090009001e000026023c0dac0122032000e8",
        "ff5501030007ef00002400015b000002bf00080009001e000026033c0dac01220320009c",
        "ff5501030007ef00002500015b000002c000090009001e000026043c0dac0122032000d5",
        "ff5501030007ed00002e00015b000002c000080009001f000026053c0dac012203200095",
        "ff5501030007ef00002600015b000002c000090009001f000026063c0dac0122032000c9",
        "ff5501030007ef00002600015b000002c000090009001f000026073c0dac012203200086",
        "ff5501030007f000001f00015b000002c100090009001f000026083c0dac01220320003f",
        "ff5501030007ef00002d00015b000002c100090009001f000026093c0dac012203200006",
        "ff5501030007f000002400015b000002c100090009001f0000260a3c0dac012203200046",
        "ff5501030007ef00002400015b000002c100090009001f0000260b3c0dac012203200006",
    ]
    // flaviutamas.com, 2022, dl24m-reversing: three reports, of which the meter sends the like for hours.
    static let dl24m = [
        "ff55010200003200018c0000080000000000000000000000001600000000000000000013",
        "ff55010200003200018d000008000000000000000000000000160000000000000000007f",
        "ff55010200003200018d00000800000000000000000000000016000000000000000000e3",
    ]
    // syssi/esphome-atorch-dl24, tests/esp32-atorch-s1-faker.yaml.
    static let s1 = [
        "ff550101000906000028000007000000ed00006401f400530020000e0d083c000000005f",
        "ff550101000902000028000007000000ed00006401f4004f001e000e0d093c00000000e9",
        "ff550101000901000028000008000000ed00006401f40059001f000e0d0a3c0000000007",
        "ff5501010008fe000028000007000000ed00006401f40055001f000e0d0b3c000000001d",
        "ff550101000902000028000008000000ed00006401f400580020000e0d0c3c000000003e",
        "ff550101000904000028000007000000ed00006401f400530020000e0d0d3c00000000dc",
        "ff55010100090c000028000008000000ed00006401f4005b0020000e0d0e3c000000000c",
        "ff550101000907000028000008000000ed00006401f4005c0020000e0d0f3c0000000031",
        "ff550101000905000028000008000000ed00006401f4005d0020000e0d103c00000000de",
        "ff5501010008fc000028000008000000ed00006401f40060001f000e0d113c0000000004",
        "ff5501010008e8000028000007000000ed00006401f400530020000e0d123c0000000002",
        "ff5501010008e3000027000007000000ed00006401f400510020000e0d133c0000000079",
    ]
    // NiceLabs/atorch-console, docs/UD18-SPP.pcap.
    static let ud18 = [
        "ff55010300049600007003956d0004f42c00e600eb000000c30d093c0000000000000059",
        "ff55010300049600007003956d0004f42c00e600ec000000c30d0a3c000000000000005b",
        "ff55010300049600007003956e0004f42c00e600ec000000c30d0b3c0000000000000065",
    ]
    // Comments of fqueze/usb-power-profiling usb-power-profiling.js.
    static let km001Pro =
        "aa2562050b01cd274f001d2103000e7a0f0016000000cc00000082274f00b74b0300070101"
        + String(repeating: "00", count: 26) + "20"
    static let acd15p =
        "aa4062050b00eb01c6a64f00350f0100b68705008f23000039160000cb2d0d005275320090d9b701e89f87020000900a0000fc714e"
        + "00010000002a0100000100"
    // okhsunrog/km003c-rs: one under load; two with nothing plugged in have currents that nothing is far from.
    static let km003c = [
        "410080020100000b451c4d00ae9efeffdb1c4d00239ffeffe11c4d00819ffeffc90c8a100e0000000000787e0080020000000000"
    ]
}
