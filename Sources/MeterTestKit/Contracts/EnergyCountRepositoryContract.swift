import Domain
package import Gateway

/// Contract of `EnergyCountRepository`, whose counts a `SampleRepository` writes together with readings. Each clause
/// needs an empty repository.
package enum EnergyCountRepositoryContract {
    package typealias Subject = any EnergyCountRepository & SampleRepository
    package typealias Clause = ContractClause<Subject>

    package static var clauses: [Clause] {
        [
            Clause("counts_areNone_atFirst") { try await require([:], in: $0) },
            Clause("count_comesBackWhole") { repository in
                try await repository.keepEnergyCount(count(1), of: one)
                try await repository.keepEnergyCount(EnergyCount(energy_Wh: -0.1), of: two)
                try await require([one: count(1), two: EnergyCount(energy_Wh: -0.1)], in: repository)
            },
            Clause("count_isReplaced_andDeleted") { repository in
                try await repository.keepEnergyCount(count(1), of: one)
                try await repository.keepEnergyCount(count(2), of: one)
                try await require([one: count(2)], in: repository)
                try await repository.keepEnergyCount(nil, of: one)
                try await repository.keepEnergyCount(nil, of: two)
                try await require([:], in: repository)
            },
            Clause("count_isWrittenWithReadings_andLeavesOthersAlone") { repository in
                try await repository.keepEnergyCount(count(1), of: one)
                try await repository.append([], keeping: [two: count(3)])
                try await require([one: count(1), two: count(3)], in: repository)
            },
            Clause("count_isKept_whenTheTaskIsCancelled") { repository in
                try await inCancelledTask { try await repository.keepEnergyCount(count(1), of: one) }
                try await require([one: count(1)], in: repository)
            },
        ]
    }

    private static let one = MeterID.port(host: "pi", path: "/dev/ttyUSB0")
    private static let two = MeterID.mac(MACAddress(bits: 7))

    private static func count(_ number: Double) -> EnergyCount {
        EnergyCount(
            energy_Wh: number / 3, charge_mAh: number * 1000 / 7, seconds: number * 3600.25,
            since: WallTime(millisecondsSince1970: 1_795_000_000_000 + Int64(number)),
            own: OwnCounters(
                charge_mAh: number, energy_Wh: number == 2 ? nil : number / 7, group: number == 3 ? nil : Int(number),
                at: WallTime(millisecondsSince1970: 1_795_000_000_000)), token: UInt64(number) << 50)
    }

    private static func require(_ expected: [MeterID: EnergyCount], in repository: Subject) async throws {
        try ContractViolation.requireEqual(try await repository.energyCounts(), expected, "counts")
    }
}
