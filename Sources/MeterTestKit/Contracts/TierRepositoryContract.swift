import Domain
package import Gateway

/// Contract of `TierRepository`, which aggregates the readings of a `SampleRepository`. Each clause needs an empty
/// repository.
package enum TierRepositoryContract {
    package typealias Subject = any SampleRepository & TierRepository
    package typealias Clause = ContractClause<Subject>

    private static let one = MeterID.mac(MACAddress(bits: 0xAABB_CCDD_EEFF))
    private static let two = MeterID.usb(vendor: 0x2E3C, product: 0x0049, serial: "0042")
    /// Start of a day, at which buckets of all tiers begin.
    private static let start = WallTime(millisecondsSince1970: 1_794_960_000_000)
    private static let never = WallTime(millisecondsSince1970: .min)
    private static let always = WallTime(millisecondsSince1970: .max)

    package static var clauses: [Clause] {
        [
            Clause("fill_isEmpty_atFirst") { repository in
                try ContractViolation.requireEqual(try await repository.rollUp(), 0, "summed up")
                try ContractViolation.requireEqual(try await series(in: repository).times, [], "times")
            },
            Clause("fill_findsReadings_beforeTheyAreSummedUp") { repository in
                try await repository.append(chunks(one, minutes: 0..<30, perSecond: 1))
                try await requireRaw(in: repository, minutes: 0..<30, perSecond: 1)
            },
            Clause("fill_isTheSame_afterRollUp") { repository in
                try await repository.append(chunks(one, minutes: 0..<150, perSecond: 1))
                try await rollUpAll(repository, expecting: 150 * 60)
                try await requireRaw(in: repository, minutes: 0..<150, perSecond: 1)
            },
            Clause("fill_isTheSame_whenPartsAreSummedUpAndPartsNot") { repository in
                try await repository.append(chunks(one, minutes: 0..<45, perSecond: 1))
                try await rollUpAll(repository, expecting: 45 * 60)
                try await repository.append(chunks(one, minutes: 45..<70, perSecond: 1))
                try await requireRaw(in: repository, minutes: 0..<70, perSecond: 1)
                try await rollUpAll(repository, expecting: 25 * 60)
                try await requireRaw(in: repository, minutes: 0..<70, perSecond: 1)
            },
            Clause("fill_isTheSame_whenTheCalendarStepsBack", stepBack),
            Clause("fill_isOfOneMeter", eachMetersOwn),
            Clause("thin_keepsSeconds_ofFastReadings", thinFast),
            Clause("thin_leavesSlowReadingsAlone") { repository in
                try await repository.append(chunks(one, minutes: 0..<10, perSecond: 2))
                try await rollUpAll(repository, expecting: 1200)
                try ContractViolation.requireEqual(try await repository.thin(before: always), 0, "replaced")
            },
            Clause("thin_waits_forRollUp") { repository in
                try await repository.append(chunks(one, minutes: 0..<2, perSecond: 10))
                try ContractViolation.requireEqual(try await repository.thin(before: always), 0, "replaced")
            },
            Clause("minutesStay_whenReadingsArePruned", pruneKeepsMinutes),
            Clause("expire_takesWholeBlocksOfOneTier", expiry),
            Clause("firstStored_findsReadings_secondsAndMinutes", findsTheFirst),
            Clause("seconds_areSummedUpOnce_andAreNoReadings", secondsInChunks),
            Clause("seconds_areOfOneMeter_andGoWithItsReadings", secondsOfOneMeter),
        ]
    }

    @Sendable private static func stepBack(_ repository: Subject) async throws {
        try await repository.append(chunks(one, minutes: 30..<60, perSecond: 1))
        try await rollUpAll(repository, expecting: 1800)
        try await repository.append(chunks(one, minutes: 0..<30, perSecond: 1))
        try await rollUpAll(repository, expecting: 1800)
        try await requireRaw(in: repository, minutes: 0..<60, perSecond: 1)
    }

    @Sendable private static func eachMetersOwn(_ repository: Subject) async throws {
        try await repository.append(chunks(one, minutes: 0..<10, perSecond: 1))
        try await rollUpAll(repository, expecting: 600)
        try await repository.append(chunks(one, minutes: 10..<20, perSecond: 1))
        try ContractViolation.requireEqual(try await series(of: two, in: repository).times, [], "of another")
    }

    @Sendable private static func thinFast(_ repository: Subject) async throws {
        try await repository.append(chunks(one, minutes: 0..<20, perSecond: 10))
        try await rollUpAll(repository, expecting: 12_000)
        try ContractViolation.requireEqual(try await repository.thin(before: start), 0, "replaced too early")
        let before = try await fine(in: repository)
        var replaced = 0
        while case let count = try await repository.thin(before: always), count > 0 { replaced += count }
        try ContractViolation.requireEqual(replaced, 12_000, "replaced")
        let samples = try await repository.samples(of: one, in: never..<always, limit: .max)
        try ContractViolation.requireEqual(samples.count, 0, "single readings left")
        try requireAlike(try await fine(in: repository), before)
        try await requireRaw(in: repository, minutes: 0..<20, perSecond: 10)
    }

    @Sendable private static func pruneKeepsMinutes(_ repository: Subject) async throws {
        try await repository.append(chunks(one, minutes: 0..<120, perSecond: 1))
        try await rollUpAll(repository, expecting: 7200)
        _ = try await repository.prune(before: always, maxBytes: .max)
        // A later chunk is aggregated even if all earlier chunks were deleted.
        try await repository.append(chunks(one, minutes: 120..<130, perSecond: 1))
        try await requireRaw(in: repository, minutes: 0..<130, perSecond: 1)
        try await rollUpAll(repository, expecting: 600)
        try await requireRaw(in: repository, minutes: 0..<130, perSecond: 1)
    }

    @Sendable private static func expiry(_ repository: Subject) async throws {
        try await repository.append(chunks(one, minutes: 0..<180, perSecond: 1))
        try await rollUpAll(repository, expecting: 180 * 60)
        try await repository.expire(.minute, before: start + .seconds(3600 + 1800))
        let times = try await series(in: repository).times
        try ContractViolation.requireEqual(times.first, start + .seconds(3600), "first minute")
        try ContractViolation.requireEqual(times.count, 120, "minutes")
        let hours = try await fill(start..<start + .seconds(3 * 3600), 1, one, repository)
        try ContractViolation.requireEqual(hours.tier, .hour, "tier")
        try ContractViolation.requireEqual(hours.times, [start], "hours")
    }

    @Sendable private static func findsTheFirst(_ repository: Subject) async throws {
        func requireFirst(from minute: Int, is expected: WallTime?, _ what: String) async throws {
            let found = try await repository.firstStored(of: one, in: start + .seconds(60 * minute)..<always)
            try ContractViolation.requireEqual(found, expected, what)
        }
        try await requireFirst(from: 0, is: nil, "of nothing")
        try await repository.append(chunks(one, minutes: 10..<12, perSecond: 10))
        try await requireFirst(from: 0, is: start + .seconds(600), "reading")
        try await requireFirst(from: 11, is: start + .seconds(660), "reading within a chunk")
        try await requireFirst(from: 12, is: nil, "after all")
        try await rollUpAll(repository, expecting: 1200)
        while try await repository.thin(before: always) > 0 {}
        try await requireFirst(from: 11, is: start + .seconds(660), "second")
        try await repository.expire(.second, before: always)
        try await requireFirst(from: 0, is: start + .seconds(600), "minute")
        let other = try await repository.firstStored(of: two, in: start..<always)
        try ContractViolation.requireEqual(other, nil, "of another meter")
    }

    @Sendable private static func secondsInChunks(_ repository: Subject) async throws {
        try await repository.append(seconds(one, minutes: 0..<20))
        let all = never..<always
        try ContractViolation.requireEqual(try await repository.samples(of: one, in: all, limit: .max), [], "readings")
        try ContractViolation.requireEqual(
            try await repository.buckets(.second, of: one, in: all).count, 1200, "seconds")
        let part = start + .seconds(59)..<start + .seconds(61)
        let found = try await repository.buckets(.second, of: one, in: part).map(\.start)
        try ContractViolation.requireEqual(found, [start + .seconds(59), start + .seconds(60)], "seconds of a part")
        try ContractViolation.requireEqual(
            try await repository.buckets(.minute, of: one, in: all).count, 0, "minutes before they are summed up")
        let first = try await repository.firstStored(of: one, in: start + .seconds(90)..<always)
        try ContractViolation.requireEqual(first, start + .seconds(90), "first")
        try await requireRaw(in: repository, minutes: 0..<20, perSecond: 10)
        try await rollUpAll(repository, expecting: 1200)
        try await requireRaw(in: repository, minutes: 0..<20, perSecond: 10)
        // One-second averages are already as coarse as the result of thinning, so thinning changes nothing.
        try ContractViolation.requireEqual(try await repository.thin(before: always), 0, "replaced")
        try ContractViolation.requireEqual(try await fine(in: repository).times.count, 1200, "points")
        let removed = try await repository.prune(before: start + .seconds(600), maxBytes: .max)
        try ContractViolation.requireEqual(removed, 600, "deleted")
        try ContractViolation.requireEqual(try await repository.buckets(.second, of: one, in: all).count, 600, "left")
        try await requireRaw(in: repository, minutes: 0..<20, perSecond: 10)
    }

    @Sendable private static func secondsOfOneMeter(_ repository: Subject) async throws {
        try await repository.append(seconds(one, minutes: 0..<2) + seconds(two, minutes: 5..<6))
        let all = never..<always
        try ContractViolation.requireEqual(
            try await repository.firstStored(of: two, in: all), start + .seconds(300), "first of the other")
        try ContractViolation.requireEqual(try await repository.deleteReadings(of: one), 120, "deleted")
        try ContractViolation.requireEqual(try await repository.buckets(.second, of: one, in: all), [], "left")
        try ContractViolation.requireEqual(
            try await repository.buckets(.second, of: two, in: all).count, 60, "of the other")
    }

    private static func seconds(_ meter: MeterID, minutes: Range<Int>) throws -> [SampleChunk] {
        try chunks(meter, minutes: minutes, perSecond: 10).flatMap { chunk in
            var buckets: [SampleBucket] = []
            try chunk.forEach { sample in
                let start = SampleTier.second.bucket(of: sample.time)
                if buckets.last?.start != start { buckets.append(SampleBucket(start: start)) }
                buckets[buckets.count - 1].add(sample.reading)
            }
            return SampleChunk.seconds(of: meter, buckets)
        }
    }

    // MARK: What is expected

    private static func rollUpAll(_ repository: Subject, expecting count: Int) async throws {
        var sum = 0
        while case let step = try await repository.rollUp(), step > 0 { sum += step }
        try ContractViolation.requireEqual(sum, count, "summed up")
    }

    private static func series(of meter: MeterID = one, in repository: Subject) async throws -> Series {
        let series = try await fill(start..<start + .seconds(3 * 3600), 181, meter, repository)
        try ContractViolation.requireEqual(series.tier, .minute, "tier")
        return series
    }

    private static func fine(in repository: Subject) async throws -> Series {
        let series = try await fill(start..<start + .seconds(1200), 1200, one, repository)
        try ContractViolation.requireEqual(series.tier, nil, "tier")
        return series
    }

    private static func fill(
        _ span: Range<WallTime>, _ points: Int, _ meter: MeterID, _ repository: Subject
    ) async throws -> Series {
        let builder = SeriesBuilder(span: span, points: points, quantities: [.voltage, .current])
        return try await repository.fill(builder, of: meter).finish()
    }

    private static func requireRaw(in repository: Subject, minutes: Range<Int>, perSecond: Int) async throws {
        var expected = SeriesBuilder(
            span: start..<start + .seconds(3 * 3600), points: 181, quantities: [.voltage, .current])
        for chunk in chunks(one, minutes: minutes, perSecond: perSecond) {
            try chunk.forEach { expected.add($0.time, $0.reading) }
        }
        try requireAlike(try await series(in: repository), expected.finish())
    }

    /// Requires equal extremes. Mean values may differ by at most 0.000002 (volts or amperes).
    private static func requireAlike(_ found: Series, _ expected: Series) throws {
        try ContractViolation.requireEqual(found.times, expected.times, "times")
        try ContractViolation.requireEqual(found.columns.map(\.quantity), expected.columns.map(\.quantity), "columns")
        for (column, other) in zip(found.columns, expected.columns) {
            try ContractViolation.requireEqual(column.minima, other.minima, "minima of \(column.quantity)")
            try ContractViolation.requireEqual(column.maxima, other.maxima, "maxima of \(column.quantity)")
            for (mean, right) in zip(column.means, other.means) {
                let difference = ((mean ?? 0) - (right ?? 0)).magnitude
                try ContractViolation.require(difference <= 2e-6, "mean \(mean ?? .nan), expected \(right ?? .nan)")
            }
        }
    }

    private static func chunks(_ meter: MeterID, minutes: Range<Int>, perSecond: Int) -> [SampleChunk] {
        minutes.compactMap { minute in
            var builder = SampleChunkBuilder(meter: meter)
            for number in 0..<(60 * perSecond) {
                let step = minute * 60 * perSecond + number
                var reading = Reading()
                reading[.voltage] = Double(step * 7919 % 10_007) / 1000
                reading[.current] = step % 11 == 0 ? nil : Double(step * 104_729 % 5003 - 2500) / 1000
                builder.append(
                    start + .seconds(60 * minute) + .milliseconds(Int64(number * 1000 / perSecond)), reading)
            }
            return builder.finish()
        }
    }
}
