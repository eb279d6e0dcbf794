import Cryptography
import Domain
import MeterCodec
import MeterSimulator
import Testing

struct KM003CLogDownloadTests {
    private struct Result {
        var outcome: KM003CLogDownload.Outcome?
        var failure: TransferFailure?
        var requests: [[UInt8]] = []
        var silences = 0
        var progress: [TransferProgress] = []
    }

    /// Connects the transfer to a meter: answers arrive in pieces, and the transfer is informed of silence.
    ///
    /// - Parameters:
    ///   - model: the model for which the host mistakes the meter.
    ///   - alter: changes each request on its way; nil loses it.
    ///   - answer: changes what the meter writes.
    private func run(
        _ wish: LogRequest, on meter: inout SimulatedKM003C, as model: ModelName? = nil, piece: Int = 64,
        alter: (Int, [UInt8]) -> [UInt8]? = { $1 }, answer: ([UInt8]) -> [UInt8] = { $0 }
    ) -> Result {
        var transfer = KM003CLogDownload(wish, model: model ?? meter.model)
        var result = Result()
        var time = Duration.zero
        var step = transfer.start()
        for _ in 0..<5000 {
            switch step {
            case .finished(let outcome):
                result.outcome = outcome
                result.progress.append(transfer.progress)
                return result
            case .failed(let failure):
                result.failure = failure
                return result
            case .wait:
                result.silences += 1
                step = transfer.answerOverdue()
            case .send(let outgoing):
                step = .wait
                var arrived: [UInt8] = []
                for sent in outgoing {
                    time += sent.pause + .milliseconds(1)
                    guard !sent.bytes.isEmpty else { continue }
                    result.requests.append(sent.bytes)
                    let bytes = alter(result.requests.count, sent.bytes)
                    arrived += bytes.map { meter.receive($0, at: time).flatMap(answer) } ?? []
                }
                for start in stride(from: 0, to: arrived.count, by: piece) {
                    let next = transfer.receive(Array(arrived[start..<min(start + piece, arrived.count)]))
                    result.progress.append(transfer.progress)
                    if case .wait = next { continue }
                    step = next
                }
            }
        }
        Issue.record("it never ends")
        return result
    }

    @Test func device_isReadWithoutAProof() throws {
        var meter = SimulatedKM003C(model: .km002c)
        let result = run(.device, on: &meter)
        let device = try #require(result.outcome?.device)
        #expect(device.model == .km002c)
        #expect(device.hardware == "2.1")
        #expect(device.firmware == "1.9.5")
        #expect(device.serial?.count == 6)
        #expect(result.requests.count == 4)
        #expect(!result.requests.contains { $0.first == 0x4C })
    }

    @Test func catalogue_isReadWithAProof() throws {
        var meter = SimulatedKM003C(model: .km003c)
        let outcome = try #require(run(.catalogue, on: &meter).outcome)
        #expect(outcome.catalogue.map(\.name) == ["A01.d", "A02.d"])
        #expect(outcome.catalogue.map(\.sampleCount) == [12, 521])
        #expect(outcome.log == nil)
    }

    /// It lists a log that was begun and stopped at once, of which nothing can be read.
    @Test func logWithoutSamples_isThere_andEmpty() throws {
        var meter = SimulatedKM003C(model: .km003c)
        let result = run(
            .log(named: "A01.d"), on: &meter,
            answer: { bytes in
                guard let entry = bytes.indices.first(where: { bytes[$0...].starts(with: "A01.d".utf8) }) else {
                    return bytes
                }
                var bytes = bytes
                bytes.replaceSubrange(entry + 18..<entry + 20, with: [0, 0])
                return bytes
            })
        let log = try #require(result.outcome?.log)
        #expect(log.entry.sampleCount == 0 && log.samples.isEmpty)
        #expect(result.failure == nil && result.silences == 0)
    }

    /// A KM002C refuses its hardware id, and accepts the start of its serial number's block instead
    /// (jfessard/km003c-web, docs/PROTOCOL.md).
    @Test func km002c_showsItsLogs_forTheBeginningOfItsSerialNumber() throws {
        var meter = SimulatedKM003C(model: .km002c)
        let result = run(.log(named: "A01.d"), on: &meter)
        #expect(result.outcome?.log?.samples.count == 12)
        #expect(result.requests.filter { $0.first == 0x4C }.count == 1)
    }

    /// Either kind of refusal is one, and that of another request is none.
    @Test(arguments: [KM003CKind.reject, .notReadable])
    func km002c_mayRefuseItsHardwareID_inEitherWay(kind: KM003CKind) {
        var meter = SimulatedKM003C(model: .km002c)
        var refusals = 0
        let result = run(
            .log(named: "A01.d"), on: &meter,
            answer: { answer in
                guard answer[0] == KM003CKind.notReadable.rawValue else { return answer }
                refusals += 1
                return [kind.rawValue] + answer.dropFirst()
            })
        #expect(refusals == 1)
        #expect(result.outcome?.log?.samples.count == 12)
        #expect(result.silences == 0)

        meter = SimulatedKM003C(model: .km002c)
        let strange = run(
            .log(named: "A01.d"), on: &meter,
            answer: { answer in
                guard answer[0] == KM003CKind.notReadable.rawValue else { return answer }
                return [kind.rawValue, answer[1] &+ 1] + answer.dropFirst(2)
            })
        #expect(strange.failure == .silent("its hardware id"))
    }

    /// The same bytes would open a KM003C for calibration: they are never sent to one, whatever the host takes it for.
    @Test(arguments: [ModelName.km003c, .km002c])
    func km003c_neverHearsAnythingButItsHardwareID(model: ModelName) throws {
        var meter = SimulatedKM003C(model: .km003c)
        let refused = run(.catalogue, on: &meter, as: model) { _, bytes in
            bytes[0] == 0x4C ? KM003CProof.request(id: bytes[1], hardwareID: []) : bytes
        }
        #expect(refused.failure == .refused("access to its logs"))
        #expect(refused.requests.filter { $0.first == 0x4C }.count == 1)
        #expect(run(.catalogue, on: &meter, as: model).outcome?.catalogue.count == 2)
        #expect(!meter.isOpenForCalibration)
    }

    @Test(arguments: [1, 7, 20, 64, 2544, 100_000])
    func log_isReadInWhateverPiecesItComes(piece: Int) throws {
        var meter = SimulatedKM003C(model: .km003c)
        let result = run(.log(named: "A02.d"), on: &meter, piece: piece)
        let log = try #require(result.outcome?.log)

        #expect(log.samples.count == 521)
        #expect(log.samples.last.map { Int($0.charge_uAh) } == log.entry.charge_uAh)
        #expect(log.samples.last.map { Int($0.energy_uWh) } == log.entry.energy_uWh)
        let load = ElectricalLoad()
        #expect(log.samples.first?.microvolts == Int32((load.state(step: 0, length: 10).voltage * 1e6).rounded()))
        #expect(result.silences == 0)
        let steps = Set(result.progress.map(\.done)).sorted()
        #expect(piece > 64 || steps == [0, 2544, 5088, 7632, 8336], "as the meter's own pieces come")
        #expect(result.progress.last == TransferProgress(done: 8336, total: 8336))
        #expect(zip(result.progress, result.progress.dropFirst()).allSatisfy { $0.done <= $1.done })
    }

    @Test func readings_goOnAfterwards() throws {
        var meter = SimulatedKM003C(model: .km003c)
        _ = run(.log(named: "A01.d"), on: &meter)
        var driver = KM003CDriver(model: .km003c)
        var frames = 0
        for write in meter.receive(driver.poll(), at: .seconds(60)) {
            driver.receive(write) { if case .frame = $0 { frames += 1 } }
        }
        #expect(!meter.isCrashed)
        #expect(frames == 1)
    }

    @Test func missingLog_isNamed() {
        var meter = SimulatedKM003C(model: .km003c)
        #expect(run(.log(named: "B07.d"), on: &meter).failure == .missing("log called B07.d"))
    }

    @Test func requestsAreNumbered_andOnlyOneIsOut() {
        var meter = SimulatedKM003C(model: .km003c)
        let numbers = run(.log(named: "A01.d"), on: &meter).requests.map { $0[1] }
        #expect(numbers == (1...8).map { UInt8($0) })
    }

    /// Each request is lost once.
    @Test func lostRequest_isAskedAgain() throws {
        for lost in 1...8 {
            var meter = SimulatedKM003C(model: .km003c)
            let result = run(.log(named: "A02.d"), on: &meter) { $0 == lost ? nil : $1 }
            #expect(result.outcome?.log?.samples.count == 521, "request \(lost)")
            #expect(result.silences == 1, "request \(lost)")
        }
    }

    /// It belongs to the request by its number and by the place that it names. What follows any other does not count.
    @Test(arguments: ["number", "place"])
    func memoryAnswer_toAnotherRequest_isNotTaken(difference: String) {
        var meter = SimulatedKM003C(model: .km003c)
        let elsewhere = KM003CMemory.range(address: KM003CMemory.firmware.address, size: KM003CMemory.firmware.size)
        let result = run(
            .device, on: &meter,
            answer: { answer in
                guard answer.count == KM003CMemoryRange.answerLength,
                    answer[0] == KM003CKind.memoryAnswer.rawValue
                else { return answer }
                guard difference == "number" else { return Array(answer.prefix(4)) + elsewhere }
                return [answer[0], answer[1] &+ 1] + answer.dropFirst(2)
            })
        #expect(result.outcome == nil)
        #expect(result.failure == .silent("its name"))
        #expect(result.requests.count == 1 + 3)
    }

    @Test func silence_isGivenUpAfterThreeAttempts() {
        var meter = SimulatedKM003C(model: .km003c)
        let result = run(.catalogue, on: &meter) { number, bytes in number < 4 ? bytes : nil }
        #expect(result.failure == .silent("its name"))
        #expect(result.requests.count == 3 + 3)
    }

    @Test(arguments: SimulatorFaults.Kind.allCases, [2, 3, 5])
    func fault_costsAnAttempt_andNoWrongSample(kind: SimulatorFaults.Kind, period: Int) throws {
        var whole = SimulatedKM003C(model: .km003c)
        let expected = try #require(run(.log(named: "A02.d"), on: &whole).outcome)
        var meter = SimulatedKM003C(model: .km003c)
        meter.faults = SimulatorFaults(kind, every: period)
        let result = run(.log(named: "A02.d"), on: &meter)
        if let outcome = result.outcome { #expect(outcome == expected) }
        // Shifted answers are complete ones after stray bytes.
        if kind == .silence || kind == .shifted { #expect(result.outcome != nil) }
    }

    /// The meter does not know this host.
    @Test func refusedProof_isTold() {
        var meter = SimulatedKM003C(model: .km003c)
        let result = run(.catalogue, on: &meter) { _, bytes in
            bytes[0] == 0x4C ? KM003CProof.request(id: bytes[1], hardwareID: []) : bytes
        }
        #expect(result.failure == .refused("access to its logs"))
    }

    @Test func readOutsideTheList_crashesTheSimulator_andNothingHereAsksForIt() throws {
        var meter = SimulatedKM003C(model: .km003c)
        let plain = KM003CMemory.range(address: 0x4000_0000, size: 64) + [UInt8](repeating: 0xFF, count: 16)
        let cipher = try #require(ECBCipher.km003cMemory.encrypt(plain))
        #expect(meter.receive([0x44, 0x01, 0x01, 0x01] + cipher, at: .zero).isEmpty)
        #expect(meter.isCrashed)
        #expect(run(.device, on: &meter).failure == .silent("a connection"))
        meter.powerCycle()
        #expect(run(.device, on: &meter).outcome != nil)
    }

    @Test func whatIsCalledAfterTheEnd_hasNoEffect() {
        var transfer = KM003CLogDownload(.device)
        guard case .send = transfer.start(), case .send = transfer.answerOverdue(),
            case .send = transfer.answerOverdue(),
            case .failed(.silent("a connection")) = transfer.answerOverdue(), case .wait = transfer.answerOverdue(),
            case .wait = transfer.start(), case .wait = transfer.receive([0x05, 0x03, 0, 0])
        else {
            Issue.record("it went on")
            return
        }
    }

    @Test func rubbish_endsNothing() {
        var noise = SplitMix64(seed: 7)
        for _ in 0..<200 {
            var transfer = KM003CLogDownload(.log(named: "A01.d"))
            _ = transfer.start()
            for _ in 0..<20 {
                if case .finished = transfer.receive(noise.bytes(64)) { Issue.record("finished") }
            }
        }
    }
}
