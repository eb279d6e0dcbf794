import Cryptography
import Domain
import MeterCodec
import MeterSimulator

/// What simulated meters send, as streams to start from: a few good frames each, and each fault once.
enum Streams {
    static func um() -> [[UInt8]] {
        [ModelName.um24c, .um25c, .um34c].flatMap { model in
            asked(SimulatedUM(model: model), requests: [[0xF0], [0xF0]])
        }
    }

    static func tc66() -> [[UInt8]] {
        let requests = [TC66Request.query, .values, .values].map(\.bytes)
        return asked(SimulatedTC66(model: .tc66c), requests: requests)
            + asked(SimulatedTC66(model: .tc66, mode: .boot), requests: [TC66Request.query.bytes])
    }

    /// Answers before they are encrypted.
    static func tc66Plain() -> [[UInt8]] {
        asked(SimulatedTC66(model: .tc66c), requests: [TC66Request.values.bytes]).compactMap { cipher in
            var plain = [UInt8](repeating: 0, count: cipher.count)
            let isDecrypted = cipher.withUnsafeBytes { cipher in
                plain.withUnsafeMutableBytes { ECBCipher.tc66.decrypt(cipher, into: $0) }
            }
            return isDecrypted ? plain : nil
        }
    }

    static func fnirsiUSB() -> [[UInt8]] {
        [false, true].flatMap { startsWithGarbage in
            pushed(SimulatedFNIRSIUSB(startsWithGarbage: startsWithGarbage), start: FNIRSIUSBCommand.start.bytes)
        } + asked(SimulatedFNIRSIUSB(), requests: [FNIRSIUSBCommand.hello.bytes])
    }

    static func fnirsiBLE() -> [[UInt8]] {
        pushed(SimulatedFNIRSIBLE(), start: FNIRSIBLECommand.start.bytes)
            + asked(SimulatedFNIRSIBLE(), requests: [FNIRSIBLECommand.info.bytes])
    }

    static func atorch() -> [[UInt8]] {
        let replies = AtorchReply.Outcome.allCases
        return [ModelName.atorchUSB, .atorchDC, .atorchAC].flatMap { pushed(SimulatedAtorch(model: $0), start: []) }
            + [replies.flatMap { AtorchReply($0).bytes }]
    }

    /// Both sides of a conversation with a load: reports, queries, orders, keys and their answers.
    static func dl24() -> [[UInt8]] {
        let said =
            PX100Query.allCases.map(\.bytes)
            + [PX100Order.isOn(true), .current(123), .cutoff(280), .timer(3600), .resetCounters].map(\.bytes)
            + [AtorchCommand(.enter, type: .dc).bytes]
        return faults.map { fault in
            var meter = SimulatedDL24()
            meter.faults = fault
            return said.enumerated().flatMap { place, request in
                let time = Duration.milliseconds(300 * (place + 1))
                return request + meter.receive(request, at: time).joined()
                    + meter.due(at: time + .milliseconds(200)).joined()
            }
        }
    }

    static func km003c() -> [[UInt8]] {
        let meter = SimulatedKM003C(model: .km003c, grantsStreaming: true)
        var driver = KM003CDriver(model: .km003c)
        let graph = KM003CHeader(.startGraph, id: 200, parameter: UInt16(KM003CRate.fifty.rawValue)).bytes
        let opening = driver.opening().map(\.bytes) + [graph]
        let requests = [
            driver.request([.adc, .queue]), driver.request(.settings), driver.request([.adc, .pd]), driver.request([]),
            driver.request([.adc, .queue]), driver.request([.pd, .pdTrace, .logCatalogue]),
            KM003CMemory.hardware.request(id: 9),
        ]
        // A PD trace has its lengths inside, and a memory answer announces bytes without a header.
        let trace = KM003CHeader(.data, id: 9).bytes + KM003CPayloadHeader(.pdTrace, hasNext: true, size: 0).bytes
        let records: [UInt8] = [5, 2, 0x0B, 1, 0, 0, 5, 0, 0x0B, 1, 0, 0]
        let tail = KM003CPayloadHeader(.unknown80, size: 8).bytes + [UInt8](repeating: 0x3C, count: 8)
        var memory: [UInt8] = [KM003CKind.memoryAnswer.rawValue, 2, 1, 1]
        for word in [0x420, 20, UInt32.max] { memory.appendLE(word) }
        memory.appendLE(Checksum.crc32(memory[4...]))
        return asked(meter, requests: opening + requests)
            + [trace + records + tail, memory + [UInt8](repeating: 0xE7, count: 32) + requests.joined()]
    }

    static func witrn() -> [[UInt8]] { pushed(SimulatedWITRN(model: .witrnK2), start: []) }

    static func ct3() -> [[UInt8]] {
        pushed(SimulatedCT3(), start: CT3Request.start(interval_ms: 10).bytes(id: 1))
            + asked(SimulatedCT3(), requests: [CT3Request.stop.bytes(id: 1)])
    }

    static func zy1280() -> [[UInt8]] { pushed(SimulatedZY1280(), start: []) }

    static func km001Pro() -> [[UInt8]] {
        pushed(
            SimulatedKM001(interval: .milliseconds(100)), start: KM001Request.samples.bytes(for: .km001Pro))
    }

    static func acd15p() -> [[UInt8]] {
        let request = KM001Request.samples.bytes(for: .acd15p)
        return asked(SimulatedKM001(model: .acd15p, dialect: .acd15p), requests: [request, request])
    }

    static func fl001() -> [[UInt8]] { pushed(SimulatedFL001(), start: []) }

    /// The whole conversation, then samples.
    static func ppk2() -> [[UInt8]] {
        pushed(SimulatedPPK2(), start: PPK2Request.ammeterConversation.flatMap(\.bytes))
    }

    static func lines() -> [[UInt8]] { lines(.usual) }

    static func lines(_ description: LineDescription) -> [[UInt8]] {
        pushed(SimulatedBoard(model: .generic, description), start: [])
    }

    /// With units, a factor and a check.
    static var columns: LineDescription {
        var current = LineField(.current, column: 2)
        (current.factor, current.unit) = (0.001, Array("mA".utf8))
        var description = LineDescription(format: .columns, fields: [LineField(.voltage, column: 0), current])
        description.check = .xor
        return description
    }

    static var json: LineDescription {
        LineDescription(
            format: .json,
            fields: [LineField(.voltage, name: Array("V".utf8)), LineField(.current, name: Array("A".utf8))])
    }

    /// The answers to some requests half a second apart: in order, then with each fault.
    private static func asked(_ meter: some SimulatedMeter, requests: [[UInt8]]) -> [[UInt8]] {
        faults.map { fault in
            var meter = meter
            meter.faults = fault
            return requests.enumerated().flatMap { index, request in
                meter.receive(request, at: .milliseconds(500 * (index + 1))).flatMap { $0 }
            }
        }
    }

    /// What a meter pushes in its first two seconds.
    private static func pushed(_ meter: some SimulatedMeter, start: [UInt8]) -> [[UInt8]] {
        faults.map { fault in
            var meter = meter
            meter.faults = fault
            let answer = meter.receive(start, at: .milliseconds(100)).flatMap { $0 }
            return answer + meter.due(at: .milliseconds(2100)).flatMap { $0 }.prefix(512)
        }
    }

    private static var faults: [SimulatorFaults] {
        [.none] + SimulatorFaults.Kind.allCases.map { SimulatorFaults($0, every: 2) }
    }
}
