import BluetoothCore
import Domain

extension FuzzTarget {
    /// Packets of the attribute protocol: any bytes end in a PDU that writes back as it was read, or in an error.
    static let att = FuzzTarget(name: "att", run: runATT, seeds: { ATTSeeds.packets })

    private static func runATT(_ input: [UInt8]) {
        let pdu: ATTPDU
        do throws(ATTDecodeError) {
            pdu = try ATTPDU(input)
        } catch {
            return promise(!error.description.isEmpty && error.opcode == input.first, "an error names its packet")
        }
        promise(pdu.opcode.rawValue == input.first, "a PDU is of the kind that it says")
        // An error would be a packet that was written here and cannot be read here.
        promise((try? ATTPDU(pdu.bytes)) == pdu, "a PDU reads as it was written")
        promise(input.count <= ATTPDU.largestMTU, "what is too long is refused")
    }
}

extension FuzzTarget {
    /// A meter's line through GATT against a peripheral that says anything at any time.
    static let gatt = FuzzTarget(name: "gatt", run: runGATT, seeds: { ATTSeeds.conversations })

    /// Each step is a byte that says what happens, one that says how much, and perhaps so many bytes.
    private static func runGATT(_ input: [UInt8]) {
        var machine = GATTSerialMachine()
        var play = GATTPlay()
        machine.linkUp(at: play.now)
        var rest = input[...]
        while rest.count >= 2, !play.isOver {
            let (kind, amount) = (rest.removeFirst(), Int(rest.removeFirst()))
            play.drain(&machine)
            let bytes = Array(rest.prefix(amount))
            switch kind % 5 {
            case 0: play.pass(.seconds(amount % 32), &machine)
            case 1:
                rest = rest.dropFirst(bytes.count)
                if case .failed = machine.send(bytes) { play.isOver = true }
            case 2:
                rest = rest.dropFirst(bytes.count)
                play.receive(bytes, &machine)
            case 3:
                // The answer that is waited for, filled with anything.
                rest = rest.dropFirst(bytes.count)
                play.receive([play.lastRequest &+ 1] + bytes, &machine)
            default:
                let error = UInt8(truncatingIfNeeded: amount)
                play.receive([0x01, play.lastRequest, 0, 0, error], &machine)
            }
        }
        play.drain(&machine)
    }
}

/// Watches over a machine.
private struct GATTPlay {
    var now = MonotonicTime.origin
    var isOver = false
    var isOpen = false
    var lastRequest: UInt8 = 0
    private var requests = 0

    /// Takes all there is to send.
    mutating func drain(_ machine: inout GATTSerialMachine) {
        var packets = 0
        while let packet = machine.nextPDU(at: now) {
            promise(!isOver, "what failed sends nothing")
            promise(packet.count <= max(ATTPDU.defaultMTU, machine.mtu), "no packet is longer than the MTU")
            packets += 1
            promise(packets <= 70_000, "there is an end to what is sent")
            guard let first = packet.first, ATTOpcode(rawValue: first)?.kind == .request else { continue }
            lastRequest = first
            requests += 1
            promise(isOpen || requests <= 1200, "the way to an open link has an end")
            promise(machine.nextWake.map { $0 <= now + .seconds(30) } ?? false, "each request has an end")
        }
        promise(!isOver || machine.nextWake == nil, "what failed waits for nothing")
    }

    mutating func pass(_ time: Duration, _ machine: inout GATTSerialMachine) {
        now = now + time
        if case .failed(let failure) = machine.woke(at: now) {
            promise(!failure.description.isEmpty, "a failure has words")
            isOver = true
        }
    }

    mutating func receive(_ packet: [UInt8], _ machine: inout GATTSerialMachine) {
        switch machine.received(packet) {
        case .none: break
        case .opened(let profile, let mtu):
            promise(!isOpen, "a link opens once")
            promise((23...517).contains(mtu), "an MTU has bounds")
            promise(profile.input.value > 0 && profile.output > 0, "a profile has handles")
            isOpen = true
        case .deliver(let bytes):
            promise(isOpen && !bytes.isEmpty && bytes.count <= packet.count, "only an open link brings bytes")
        case .failed(let failure):
            promise(!failure.description.isEmpty, "a failure has words")
            isOver = true
        }
    }
}

extension FuzzTarget {
    /// What a meter says of its serial port: any bytes end in a channel that exists, or in none.
    static let sdp = FuzzTarget(
        name: "sdp",
        run: { input in
            promise(SDPAnswer.rfcommChannel(in: input).map { (1...30).contains($0) } ?? true, "a channel exists")
        },
        seeds: {
            [
                "3513 3511 090004 350c 3503 190100 3505 190003 0802",
                "3600163514 090001 3503 191101 090004 3505 3503 190100",
            ]
            .compactMap { Hex.decode($0) }
        })
}

private enum ATTSeeds {
    static let packets = [
        "01 10 3100 0a", "02 0502", "03 1700", "04 1c00 1d00", "05 01 1c00 0129 1d00 0229",
        "05 02 1200 7800 2902 d001 2141 7070 4701 2002 4900", "06 0100 ffff 0028 e0ff", "07 1900 1d00",
        "08 0100 ffff 0328", "09 07 1a00 10 1b00 e4ff", "0a 1b00", "0b 01 02", "0c 0300 1600", "0e 0300 0500",
        "10 0100 ffff 0028", "11 06 0100 0b00 0018 0c00 0f00 0118", "12 1d00 01 00", "13", "16 0200 1200 04", "18 01",
        "1b 1b00 aa 07", "1d 0e00", "1e", "20 0300 0500", "21 0100 01 0000 0200 02 03", "23 0300 0100 01 0500 0000",
        "52 2000 f0", "d2 2000 f0 01 02 03 04 05 06 07 08 09 0a 0b 0c",
    ].compactMap { Hex.decode($0) }

    /// An Atorch and a TC66C's old radio from the first packet to bytes both ways.
    static let conversations = [
        answers([
            "1700", "06 0100 0500 0018 0900 ffff e0ff", "07 0a00 14 0b00 e1ff", "!0a", "01 0c00 0229", "",
            "=1b0b00ff55",
        ]) + [1, 2, 0xAA, 0xBB],
        answers([
            "0502", "06 0100 0500 e0ff 0600 ffff e5ff", "07 0200 10 0300 e4ff", "!0a", "07 0700 0c 0800 e9ff", "!0a",
            "01 0400 0229", "",
        ]) + [1, 3, 1, 2, 3, 3, 0],
    ]

    /// Steps as `runGATT` reads them: an answer, a refusal (`!`) or a packet as it is (`=`).
    private static func answers(_ lines: [String]) -> [UInt8] {
        lines.flatMap { line -> [UInt8] in
            let bytes = Hex.decode(String(line.drop { "!=".contains($0) })) ?? []
            if line.hasPrefix("!") { return [4, bytes.first ?? 0] }
            return [line.hasPrefix("=") ? 2 : 3, UInt8(truncatingIfNeeded: bytes.count)] + bytes
        }
    }
}
