import Domain
package import Gateway

/// Contract of `RecordingRepository`. Each clause needs an empty repository.
package enum RecordingRepositoryContract {
    package typealias Clause = ContractClause<any RecordingRepository>

    package static var clauses: [Clause] {
        [
            Clause("recordings_areNone_atFirst") { repository in try await require([], in: repository) },
            Clause("recording_comesBackWhole_whenKept") { repository in
                try await repository.keep([recording(1), recording(2, name: "a / b")])
                try await require([recording(1), recording(2, name: "a / b")], in: repository)
            },
            Clause("recording_isReplaced_whenKeptAgain") { repository in
                try await repository.keep([recording(1)])
                try await repository.keep([recording(1, readings: 7), recording(2)])
                try await require([recording(1, readings: 7), recording(2)], in: repository)
            },
            Clause("forget_takesOne") { repository in
                try await repository.keep([recording(1), recording(2)])
                try await repository.forget(recording(1).id)
                try await require([recording(2)], in: repository)
            },
            Clause("forget_isHarmless_whereThereIsNone") { repository in
                try await repository.keep([])
                try await repository.forget(recording(1).id)
                try await require([], in: repository)
            },
            Clause("recording_isKept_whenTheTaskIsCancelled") { repository in
                try await inCancelledTask { try await repository.keep([recording(1)]) }
                try await require([recording(1)], in: repository)
            },
        ]
    }

    private static func require(_ expected: [Recording], in repository: any RecordingRepository) async throws {
        let found = try await repository.runningRecordings()
        try ContractViolation.requireEqual(found.map(\.id), expected.map(\.id), "ids")
        try ContractViolation.requireEqual(found.map(\.properties), expected.map(\.properties), "properties")
    }

    private static func recording(_ number: Int64, name: String? = nil, readings: Int = 3) -> Recording {
        let host = HostID(high: 0x1111_1111_1111_4111, low: 0x8111_1111_1111_1111)
        let start = WallTime(millisecondsSince1970: 1_795_000_000_000 + number)
        var recording = Recording(
            id: RecordingID(host: host, meter: .port(host: "pi", path: "/dev/ttyUSB0"), token: 7, started: start),
            name: name, trigger: .hand)
        for number in 0..<readings {
            var reading = Reading()
            reading[.voltage] = 5.1
            reading[.current] = Double(number)
            reading[.charge] = Double(number * 2)
            recording.totals.add(reading, step: number == 0 ? nil : .seconds(1), rules: RecordingRules())
        }
        recording.totals.add(RecordingGap(start: start, length: .seconds(20), cause: .link))
        return recording
    }
}
