import Domain
package import Gateway

/// Contract of `SampleRepository`. Each clause needs an empty repository.
package enum SampleRepositoryContract {
    package typealias Clause = ContractClause<any SampleRepository>

    package static var clauses: [Clause] { writeClauses + readClauses + pruneClauses }

    private static let one = MeterID.mac(MACAddress(bits: 0xAABB_CCDD_EEFF))
    private static let two = MeterID.usb(vendor: 0x2E3C, product: 0x0049, serial: "0042")
    private static let always = WallTime(millisecondsSince1970: .min)..<WallTime(millisecondsSince1970: .max)

    private static var writeClauses: [Clause] {
        [
            Clause("samples_areNone_atFirst") { repository in
                try await expect([], in: repository)
            },
            Clause("samples_comeBackWhole_whenAppended") { repository in
                try await repository.append([chunk(one, times: [1000, 1500, 2000])])
                try await expect([1000, 1500, 2000], in: repository)
            },
            Clause("samples_areEachMetersOwn") { repository in
                try await repository.append([chunk(one, times: [1, 2]), chunk(two, times: [3])])
                try await expect([1, 2], in: repository)
                try await expect([3], of: two, in: repository)
            },
            Clause("append_writesNothing_whenOneChunkIsWrong") { repository in
                var wrong = chunk(two, times: [7])
                wrong.first = WallTime(millisecondsSince1970: 8)
                try await ContractViolation.requireThrow("a chunk that ends before it begins") {
                    try await repository.append([chunk(one, times: [1]), wrong])
                }
                try await expect([], in: repository)
            },
            Clause("append_isKept_whenTheTaskIsCancelled") { repository in
                let last = chunk(one, times: [1, 2])
                try await inCancelledTask { try await repository.append([last]) }
                try await expect([1, 2], in: repository)
            },
            Clause("append_ofNothing_isHarmless") { repository in
                try await repository.append([])
                try await expect([], in: repository)
            },
        ]
    }

    private static var readClauses: [Clause] {
        [
            Clause("samples_beginAtTheSpansStart_andEndBeforeItsEnd") { repository in
                try await repository.append([chunk(one, times: [10, 20, 30]), chunk(one, times: [40, 50])])
                try await expect([20, 30, 40], in: repository, from: 20, to: 50)
                try await expect([], in: repository, from: 31, to: 40)
                try await expect([], in: repository, from: 20, to: 20)
            },
            Clause("samples_comeByTime_whenChunksOverlap") { repository in
                try await repository.append([chunk(one, times: [100, 200, 300])])
                try await repository.append([chunk(one, times: [50, 250]), chunk(one, times: [60, 400])])
                try await expect([50, 60, 100, 200, 250, 300, 400], in: repository)
            },
            Clause("samples_comeByTime_whenTheCalendarStepsBackInAChunk") { repository in
                try await repository.append([chunk(one, times: [500, 600, 100, 550]), chunk(one, times: [300])])
                try await expect([100, 300, 500, 550, 600], in: repository)
                try await expect([300, 500], in: repository, from: 200, to: 550)
            },
            Clause("samples_areTheOldest_whenThereAreMoreThanTheLimit") { repository in
                try await repository.append([chunk(one, times: [100, 200, 300])])
                try await repository.append([chunk(one, times: [150, 250]), chunk(one, times: [10, 900])])
                try await expect([10, 100, 150], in: repository, limit: 3)
                try await expect([10, 100, 150, 200], in: repository, limit: 4)
                try await expect([], in: repository, limit: 0)
                try await expect([150, 200], in: repository, from: 120, to: 1000, limit: 2)
            },
        ]
    }

    private static var pruneClauses: [Clause] {
        [
            Clause("prune_takesWholeChunksThatEndBeforeTheCutoff") { repository in
                try await repository.append([chunk(one, times: [10, 20]), chunk(one, times: [15, 30, 31])])
                try await repository.append([chunk(two, times: [1, 29]), chunk(two, times: [30])])
                let removed = try await repository.prune(before: WallTime(millisecondsSince1970: 30), maxBytes: .max)
                try ContractViolation.requireEqual(removed, 4, "removed")
                try await expect([15, 30, 31], in: repository)
                try await expect([30], of: two, in: repository)
            },
            Clause("prune_takesNothing_whenAllIsYoungAndSmall") { repository in
                try await repository.append([chunk(one, times: [10, 20])])
                let removed = try await repository.prune(before: WallTime(millisecondsSince1970: 20), maxBytes: .max)
                try ContractViolation.requireEqual(removed, 0, "removed")
                try await expect([10, 20], in: repository)
            },
            Clause("prune_takesTheOldestOfAllMeters_whenTheStoreIsTooLarge", pruneBySize),
            Clause("prune_takesEverything_whenThereIsNoRoom") { repository in
                try await repository.append([chunk(one, times: [10, 20]), chunk(two, times: [15])])
                let removed = try await repository.prune(before: WallTime(millisecondsSince1970: 0), maxBytes: 0)
                try ContractViolation.requireEqual(removed, 3, "removed")
                try await expect([], in: repository)
                try await expect([], of: two, in: repository)
            },
            Clause("append_works_afterAPrune") { repository in
                try await repository.append([chunk(one, times: [10])])
                _ = try await repository.prune(before: WallTime(millisecondsSince1970: 11), maxBytes: 0)
                try await repository.append([chunk(one, times: [12])])
                try await expect([12], in: repository)
            },
        ]
    }

    /// Requires that pruning keeps the newest chunks, even if those of two meters alternate.
    @Sendable private static func pruneBySize(_ repository: any SampleRepository) async throws {
        let chunks = (0..<200).map { number in
            chunk(number % 2 == 0 ? one : two, times: (0..<100).map { Int64(number * 1000 + $0) })
        }
        try await repository.append(chunks)
        let half = chunks.reduce(Int64(0)) { $0 + Int64($1.bytes.count) } / 2
        let removed = try await repository.prune(before: WallTime(millisecondsSince1970: 0), maxBytes: half)
        let left = try await times(of: one, in: repository) + times(of: two, in: repository)
        try ContractViolation.requireEqual(removed + left.count, 20_000, "removed and left")
        try ContractViolation.require(removed >= 10_000, "only \(removed) of 20000 samples went for half the bytes")
        try ContractViolation.require(left.count >= 2000, "only \(left.count) of 20000 samples are left")
        let expected = chunks.suffix(left.count / 100).flatMap { (try? $0.samples().map(\.time)) ?? [] }
        try ContractViolation.requireEqual(
            left.sorted(), expected.map(\.millisecondsSince1970), "what is left is not the youngest")
    }

    private static func chunk(_ meter: MeterID, times: [Int64]) -> SampleChunk {
        var builder = SampleChunkBuilder(meter: meter)
        for time in times { builder.append(WallTime(millisecondsSince1970: time), reading(at: time)) }
        let nothing = WallTime(millisecondsSince1970: 0)
        return builder.finish() ?? SampleChunk(meter: meter, first: nothing, last: nothing, count: 0, bytes: [])
    }

    private static func reading(at time: Int64) -> Reading {
        var reading = Reading()
        reading[.voltage] = Double(time % 977) / 100
        reading[.current] = time % 7 == 0 ? nil : Double(time % 31) / 1000
        reading[.energy] = Double(time) / 3
        return reading
    }

    private static func times(of meter: MeterID, in repository: any SampleRepository) async throws -> [Int64] {
        try await repository.samples(of: meter, in: always, limit: .max).map(\.time.millisecondsSince1970)
    }

    private static func expect(
        _ times: [Int64], of meter: MeterID = one, in repository: any SampleRepository,
        from start: Int64 = .min, to end: Int64 = .max, limit: Int = .max
    ) async throws {
        let span = WallTime(millisecondsSince1970: start)..<WallTime(millisecondsSince1970: end)
        let expected = times.map { StoredSample(time: WallTime(millisecondsSince1970: $0), reading: reading(at: $0)) }
        let found = try await repository.samples(of: meter, in: span, limit: limit)
        try ContractViolation.requireEqual(
            found.map(\.time.millisecondsSince1970), times, "times of \(meter) from \(start) to \(end), limit \(limit)")
        try ContractViolation.requireEqual(found, expected, "readings of \(meter)")
    }
}
