import CoreTestKit
import Domain
import Gateway
import MeterStore
import MeterTestKit
import StoreTestKit
import Testing

/// Chunks of seconds, and the buffer that makes them.
struct SampleSecondsTests {
    private static let meter = MeterID.mac(MACAddress(bits: 7))
    /// Ten seconds before a block ends.
    private static let start = WallTime(millisecondsSince1970: 1_794_999_590_000)

    private func reading(_ number: Int) -> Reading {
        var reading = Reading()
        reading[.voltage] = 5 + Double(number * 7919 % 1009) / 1e6
        reading[.current] = number.isMultiple(of: 3) ? nil : Double(number * 104_729 % 5003 - 2500) / 1e6
        return reading
    }

    /// A recorder that writes nowhere, and the way into it.
    private func buffer() -> (SampleRecorder, SampleBuffer) {
        let loop = VirtualLoop()
        let recorder = SampleRecorder(
            meters: Meters(), repository: MeterStore.temporary(), loop: loop, logger: LogBook().logger)
        return (recorder, recorder.track(for: Self.meter))
    }

    @Test func seconds_areThoseOfAllReadings_inAChunkForEachBlock() throws {
        let (recorder, buffer) = buffer()
        buffer.keepSeconds()
        var expected: [SampleBucket] = []
        for number in 0..<20_500 {
            let time = Self.start + .milliseconds(Int64(number))
            let second = SampleTier.second.bucket(of: time)
            if expected.last?.start != second { expected.append(SampleBucket(start: second)) }
            expected[expected.count - 1].add(reading(number))
            buffer.append(time, reading(number))
        }
        let chunks = recorder.waiting(of: Self.meter)
        #expect(chunks.map(\.count) == [10, 11])
        #expect(chunks.allSatisfy { $0.holdsSeconds })
        #expect(chunks.map(\.first) == [Self.start, Self.start + .seconds(10)])
        #expect(chunks.map(\.last) == [Self.start + .seconds(9), Self.start + .seconds(20)])
        let found = try chunks.flatMap { try $0.seconds() }
        #expect(found.map(\.minima) == expected.map(\.minima))
        #expect(found.map(\.maxima) == expected.map(\.maxima))
        #expect(found.map(\.counts) == expected.map(\.counts))
        for (one, other) in zip(found, expected) {
            let difference = (one.means[.voltage] ?? .nan) - (other.means[.voltage] ?? .nan)
            #expect(difference.magnitude <= 1e-6)
        }
    }

    /// A reading that is the mean of many keeps their number and extremes, and means of microamperes their digits.
    @Test func foldedReading_bringsItsExtremes_intoItsSecond() throws {
        func current(_ amperes: Double) -> Reading {
            var reading = Reading()
            reading[.current] = amperes
            return reading
        }
        let (recorder, buffer) = buffer()
        buffer.keepSeconds()
        for (count, least, mean, greatest) in [(300, 2e-6, 4e-6, 9e-5), (100, 1e-6, 8.004e-6, 1e-5)] {
            buffer.append(
                Self.start, current(mean),
                ReadingSpread(count: count, least: current(least), greatest: current(greatest)))
        }
        let second = try #require(try recorder.waiting(of: Self.meter).first?.seconds().first)
        #expect(second.counts[.current] == 400 && second.means[.current] == 5.001e-6)
        #expect(second.minima[.current] == 1e-6 && second.maxima[.current] == 9e-5)
    }

    @Test func keptWholeAgain_endsTheSecond_andNothingIsTwice() throws {
        let (recorder, buffer) = buffer()
        buffer.append(Self.start, reading(1))
        buffer.keepSeconds()
        buffer.append(Self.start + .milliseconds(1), reading(2))
        buffer.append(Self.start + .milliseconds(2), reading(4))
        buffer.keepWhole()
        buffer.append(Self.start + .milliseconds(3), reading(5))
        buffer.keepWhole()
        buffer.keepSeconds()
        buffer.append(Self.start + .milliseconds(4), reading(7))
        let chunks = recorder.waiting(of: Self.meter)
        #expect(chunks.filter { !$0.holdsSeconds }.reduce(0) { $0 + $1.count } == 2)
        let seconds = try chunks.flatMap { try $0.seconds() }
        #expect(seconds.map { $0.counts[.voltage] } == [3])
        #expect(try chunks.flatMap { try $0.pieces() }.count == 3)
    }

    @Test func calendarThatStepsBack_mergesTheSecond() throws {
        let (recorder, buffer) = buffer()
        buffer.keepSeconds()
        for offset in [0, 1500, 200, 1600] {
            buffer.append(Self.start + .milliseconds(Int64(offset)), reading(offset))
        }
        let seconds = try recorder.waiting(of: Self.meter).flatMap { try $0.seconds() }
        #expect(seconds.map { $0.counts[.voltage] } == [2, 2])
    }

    @Test func chunkOfSeconds_isNotReadAsReadings_andDamageIsAnError() throws {
        let (recorder, buffer) = buffer()
        buffer.keepSeconds()
        for number in 0..<3000 { buffer.append(Self.start + .milliseconds(Int64(number)), reading(number)) }
        let chunk = try #require(recorder.waiting(of: Self.meter).first)
        #expect(throws: ChunkError.unknownVersion(3)) { try chunk.samples() }
        #expect(throws: ChunkError.unknownVersion(3)) { try chunk.forEach { _ in } }

        var wrong = chunk
        wrong.count += 1
        #expect(throws: ChunkError.wrongCount(expected: 4, found: 3)) { try wrong.seconds() }
        wrong = chunk
        wrong.bytes[40] ^= 1
        #expect(throws: ChunkError.self) { try wrong.seconds() }
        wrong = chunk
        wrong.bytes = [3]
        #expect(throws: ChunkError.tooShort(length: 0)) { try wrong.pieces() }
        // Seconds of another time than the chunk's are not its own.
        wrong = chunk
        wrong.first = Self.start + .seconds(600)
        #expect(throws: ChunkError.self) { try wrong.seconds() }
    }

    @Test func chunkOfReadings_hasNoSeconds() throws {
        let (recorder, buffer) = buffer()
        buffer.append(Self.start, reading(1))
        let chunk = try #require(recorder.waiting(of: Self.meter).first)
        #expect(try chunk.seconds().isEmpty)
        #expect(try chunk.pieces() == [.reading(StoredSample(time: Self.start, reading: reading(1)))])
    }

    /// What a day of a thousand samples a second takes, with the digits and the noise of a real meter: microvolts, of which
    /// neighbours differ by some hundred.
    @Test func dayOfAThousandASecond_isFarBelow20MB() throws {
        let (recorder, buffer) = buffer()
        buffer.keepSeconds()
        var rng = SeededRNG(seed: 3)
        func noise(_ width: UInt64) -> Double { Double(Int(rng.next() % width) - Int(width / 2)) }
        for number in 0..<60_000 {
            var reading = Reading()
            let (volts, amperes) = ((5_083_000 + noise(2000)) / 1e6, (1_502_000 + noise(3000)) / 1e6)
            reading[.voltage] = volts
            reading[.current] = amperes
            reading[.power] = (volts * amperes * 1e6).rounded() / 1e6
            reading[.cc1] = (1660 + noise(6)) / 1000
            reading[.cc2] = (26 + noise(6)) / 1000
            reading[.dataPlus] = (600 + noise(8)) / 1000
            reading[.dataMinus] = (599 + noise(8)) / 1000
            reading[.countedEnergy] = (Double(number) / 471).rounded() / 10_000
            reading[.countedCharge] = (Double(number) / 24).rounded() / 100
            if number.isMultiple(of: 200) {
                reading[.temperature] = 25 + (noise(4) / 128)
                reading[.supplyVoltage] = 3.24 + noise(3) / 10_000
            }
            buffer.append(Self.start + .seconds(10) + .milliseconds(Int64(number)), reading)
        }
        let bytes = recorder.waiting(of: Self.meter).reduce(0) { $0 + $1.bytes.count }
        let day = Double(bytes) * 1440 / 1e6
        #expect(day < 15, "\(day) MB a day, \(bytes / 60) bytes a second")
        #expect(day > 2)
    }
}
