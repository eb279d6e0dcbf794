import Domain
import MeterCodec
import MeterSimulator
import Testing

/// What a bad line makes of a load's readings. Its answers have no check sum, so what protects them is that each must be
/// near what was believed before, near the report, or come twice.
struct DL24FalseValuesTests {
    private static let truth: [PX100Query: UInt32] = [
        .isOn: 1, .voltage: 3982, .current: 1000, .time: 0x01_0203, .charge: 1034, .energy: 4100, .temperature: 31,
        .setCurrent: 100, .cutoff: 280, .timer: 0x02_0000,
    ]
    /// Half of what a value may differ by and still be believed: beyond it, a wrong value would be a false one.
    private static let tolerance: [Quantity: Double] = [
        .voltage: 0.26, .current: 0.06, .charge: 160, .energy: 2.1, .temperature: 4, .duration: 12,
    ]

    /// 100,000 spoilt answers among twice as many good ones, without a report that could vouch. A false value needs two answers
    /// running that were spoilt alike; one that could just as well be the last one a moment later needs one.
    @Test func spoiltAnswers_hardlyGiveAFalseReading() {
        var driver = DL24Driver()
        _ = driver.opening()
        var rng = SplitMix64(seed: 24)
        var (spoilt, readings, wrong, slight, filtered) = (0, 0, 0, 0, 0)
        while spoilt < 100_000 {
            let request = driver.poll()
            guard !request.isEmpty, let query = PX100Query(rawValue: request[2]) else { continue }
            var answer: [UInt8] = [0xCA, 0xCB]
            answer.appendU24BE(Self.truth[query] ?? 0)
            answer += [0xCE, 0xCF]
            if rng.next() % 3 == 0 {
                spoilt += 1
                spoil(&answer, &rng)
            }
            driver.receive(answer) { event in
                if case .filtered(let samples) = event { filtered += samples }
                guard case .frame(let frame) = event else { return }
                frame.forEachReading { reading in
                    readings += 1
                    for (quantity, limit) in Self.tolerance {
                        guard let value = reading[quantity], let truth = Self.actual(quantity) else { continue }
                        if abs(value - truth) > limit { wrong += 1 } else if value != truth { slight += 1 }
                    }
                }
            }
        }
        print(
            "DL24: seed 24, \(spoilt) spoilt answers, \(readings) readings, \(wrong) false and \(slight) slightly wrong values"
        )
        #expect(readings > 10_000)
        #expect(Double(wrong) < 0.002 * Double(readings))
        // A flipped low bit cannot be told from a change.
        #expect(Double(slight) < 0.2 * Double(readings))
    }

    private static func actual(_ quantity: Quantity) -> Double? {
        PX100Query.allCases.first { $0.quantity == quantity }.flatMap { query in
            truth[query].flatMap { query.value(of: $0) }
        }
    }

    /// A bit, a byte, one byte less, one more, or several.
    private func spoil(_ answer: inout [UInt8], _ rng: inout SplitMix64) {
        let place = Int(rng.next() % 7)
        switch rng.next() % 5 {
        case 0: answer[place] ^= 1 << UInt8(rng.next() % 8)
        case 1: answer[place] = UInt8(truncatingIfNeeded: rng.next())
        case 2: answer.remove(at: place)
        case 3: answer.insert(UInt8(truncatingIfNeeded: rng.next()), at: place)
        default: for place in 2..<5 { answer[place] = UInt8(truncatingIfNeeded: rng.next()) }
        }
    }
}
