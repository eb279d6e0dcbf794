import Domain
package import Gateway

/// Contract of `MarkRepository`. Each clause needs an empty repository.
package enum MarkRepositoryContract {
    package typealias Clause = ContractClause<any MarkRepository>

    private static let other = MeterID.port(host: "pi", path: "/dev/ttyUSB1")

    package static var clauses: [Clause] {
        [
            Clause("marks_comeBack_asTheyWere") { repository in
                try await require([], in: repository)
                let all = [mark(1), mark(2, end: 9), Mark(id: mark(3).id, name: "ü / open", end: nil)]
                for mark in all { try await repository.keepLocal(mark, countMax: 9) }
                try await require(all, in: repository)
            },
            Clause("mark_isReplaced_whenKeptAgain") { repository in
                try await repository.keepLocal(mark(1), countMax: 9)
                try await repository.keepLocal(mark(1, name: "renamed"), countMax: 9)
                try await require([mark(1, name: "renamed")], in: repository)
            },
            Clause("marks_thatBeginLast_areKept_ofEachMeter") { repository in
                for number in [5, 1, 4, 2, 3] { try await repository.keepLocal(mark(number), countMax: 2) }
                try await repository.keepLocal(mark(1, of: other), countMax: 2)
                try await require([mark(1, of: other), mark(4), mark(5)], in: repository)
            },
            Clause("delete_takesThose_andIsHarmlessForOthers") { repository in
                for number in 1...3 { try await repository.keepLocal(mark(number), countMax: 9) }
                try await repository.deleteLocal([mark(1).id, mark(3).id, mark(7).id])
                try await require([mark(2)], in: repository)
            },
        ]
    }

    private static func require(_ expected: [Mark], in repository: any MarkRepository) async throws {
        let found = try await repository.localMarks()
        try ContractViolation.requireEqual(found.sorted(), expected.sorted(), "marks")
    }

    private static func mark(
        _ number: Int, name: String = "a", of meter: MeterID = .port(host: "pi", path: "/dev/ttyUSB0"),
        end: Int64? = nil
    ) -> Mark {
        let host = HostID(high: 0x1111_1111_1111_4111, low: 0x8111_1111_1111_1111)
        let start = WallTime(millisecondsSince1970: 1_795_000_000_000 + Int64(number))
        return Mark(
            id: RecordingID(host: host, meter: meter, token: 0, started: start), name: name,
            end: end.map { start + .milliseconds($0) } ?? start)
    }
}
