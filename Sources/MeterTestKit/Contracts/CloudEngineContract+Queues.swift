import Cloud
import CoreTestKit
import Domain

extension CloudEngineContract {
    static let place = MeterPlace(zone: zone, meter: meter)

    private static func waiter(_ number: UInt64, copy: UInt64 = 1, token: UInt64 = 0) -> Waiter {
        Waiter(
            host: .numbered(number), name: "Host \(number) – ü", copy: .numbered(copy),
            token: FencingToken(rawValue: token))
    }

    static var lineClauses: [Clause] {
        [
            inZone("lines_areNone_atFirst") { engine in
                try ContractViolation.requireEqual(await engine.queues().queues, [:], "queues")
                let queue = try await engine.changeQueue(at: place) { $0 }
                try ContractViolation.requireEqual(queue.waiters, [], "waiters")
            },
            inZone("lines_comeBackWhole") { engine in
                // Include a meter name with `/`, which separates the parts of a storage key.
                let places = [
                    place, MeterPlace(zone: zone, meter: "port:/dev/a/b"), MeterPlace(zone: zone, meter: "m"),
                ]
                var changed: [MeterPlace: QueueState] = [:]
                for (number, place) in places.enumerated() {
                    let waiters = [waiter(UInt64(number), copy: 7, token: 1 << 52), waiter(9)]
                    changed[place] = try await engine.changeQueue(at: place) { _ in waiters }
                    try ContractViolation.requireEqual(changed[place]?.waiters, waiters, "the changed queue")
                }
                let reading = try await engine.queues()
                try ContractViolation.requireEqual(reading.queues, changed, "queues")
                let newest = changed.values.map(\.version).max() ?? .max
                try ContractViolation.require(reading.version >= newest, "the reading is as new as what it holds")
            },
            inZone("line_isChanged_fromWhatItIs_andEachChangeIsNewer") { engine in
                var versions: [UInt64] = []
                for number in UInt64(1)...5 {
                    let queue = try await engine.changeQueue(at: place) { $0 + [waiter(number)] }
                    try ContractViolation.requireEqual(queue.waiters, (1...number).map { waiter($0) }, "waiters")
                    versions.append(queue.version)
                }
                let gone = try await engine.changeQueue(at: place) { _ in [] }
                let back = try await engine.changeQueue(at: place) { $0 + [waiter(6)] }
                versions += [gone.version, back.version]
                try ContractViolation.require(zip(versions, versions.dropFirst()).allSatisfy { $0 < $1 }, "\(versions)")
                try ContractViolation.requireEqual(back.waiters, [waiter(6)], "one that began anew")
            },
            inZone("line_isNoNewer_whenNothingChanged") { engine in
                let queue = try await engine.changeQueue(at: place) { _ in [waiter(1)] }
                let same = try await engine.changeQueue(at: place) { $0 }
                try ContractViolation.requireEqual(same, queue, "queue")
                try ContractViolation.requireEqual(await engine.queues().queues, [place: queue], "queues")
            },
            inZone("line_isNowhere_whenNobodyStandsInIt") { engine in
                let queue = try await engine.changeQueue(at: place) { _ in [waiter(1)] }
                _ = try await engine.changeQueue(at: place) { _ in [] }
                let reading = try await engine.queues()
                try ContractViolation.requireEqual(reading.queues, [:], "queues")
                try ContractViolation.require(reading.version > queue.version, "newer than the queue that is gone")
            },
            inZone("everybodyGetsIn_whenManyJoinAtOnce") { engine in
                let queues = try await withThrowingTaskGroup(of: QueueState.self) { group in
                    for number in UInt64(1)...20 {
                        group.addTask { try await engine.changeQueue(at: place) { $0 + [waiter(number)] } }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                let all = try await engine.queues().queues[place]?.waiters ?? []
                try ContractViolation.requireEqual(all.count, 20, "places")
                try ContractViolation.requireEqual(Set(all.map(\.host)).count, 20, "hosts")
                // Each answer must be a prefix of the final queue. Otherwise a host has overtaken another.
                for queue in queues.sorted(by: { $0.version < $1.version }) {
                    try ContractViolation.requireEqual(
                        queue.waiters, Array(all.prefix(queue.waiters.count)), "the queue at \(queue.version)")
                }
            },
        ]
    }

    static var copyClauses: [Clause] {
        [
            Clause("signs_areOthers_eachTime") { engine in
                let first = try await engine.heartbeat(of: .numbered(1), isFirst: true, address: nil)
                let other = try await engine.heartbeat(of: .numbered(2), isFirst: true, address: nil)
                let second = try await engine.heartbeat(of: .numbered(1), isFirst: false, address: nil)
                try ContractViolation.requireEqual(Set(first.marks.keys), [.numbered(1)], "copies at first")
                try ContractViolation.requireEqual(Set(second.marks.keys), [.numbered(1), .numbered(2)], "copies")
                try ContractViolation.require(first.marks[.numbered(1)] != second.marks[.numbered(1)], "another mark")
                try ContractViolation.requireEqual(
                    second.marks[.numbered(2)], other.marks[.numbered(2)], "the mark of one that gave no sign")
                try ContractViolation.require(!second.marks.values.contains(0), "no mark is 0")
                for signs in [first, other, second] { try ContractViolation.require(!signs.wasGivenUp, "lives") }
            },
            Clause("copies_findEachOther") { engine in
                let (here, there) = ("https://one.lan:8643", "https://two.lan:8643")
                _ = try await engine.heartbeat(of: .numbered(1), isFirst: true, address: nil)
                let none = try await engine.heartbeat(of: .numbered(2), isFirst: true, address: there)
                try ContractViolation.requireEqual(none.addresses, [.numbered(2): there], "who said where")
                let both = try await engine.heartbeat(of: .numbered(1), isFirst: false, address: here)
                try ContractViolation.requireEqual(
                    both.addresses, [.numbered(1): here, .numbered(2): there], "addresses")
                _ = try await engine.giveUp(.numbered(2), seen: both.marks[.numbered(2)] ?? 0)
                let left = try await engine.heartbeat(of: .numbered(1), isFirst: false, address: here)
                try ContractViolation.requireEqual(left.addresses, [.numbered(1): here], "addresses of who lives")
            },
            Clause("copies_haveOneKey") { engine in
                let keys = [1, 2].map { String(repeating: "\($0)", count: 64) }
                let first = try await engine.copiesKey(proposing: keys[0])
                let second = try await engine.copiesKey(proposing: keys[1])
                try ContractViolation.requireEqual([first, second], [keys[0], keys[0]], "the first one proposed")
            },
            Clause("copy_isGivenUp_onlyAsItWasSeen") { engine in
                let first = try await engine.heartbeat(of: .numbered(1), isFirst: true, address: nil)
                _ = try await engine.heartbeat(of: .numbered(1), isFirst: false, address: nil)
                let seen = first.marks[.numbered(1)] ?? 0
                try ContractViolation.require(try await !engine.giveUp(.numbered(1), seen: seen), "by an old mark")
                try ContractViolation.require(try await !engine.giveUp(.numbered(1), seen: 0), "by no mark")
                let third = try await engine.heartbeat(of: .numbered(1), isFirst: false, address: nil)
                try ContractViolation.require(!third.wasGivenUp, "it lives")
            },
            Clause("copy_isTold_thatItWasGivenUp") { engine in
                let first = try await engine.heartbeat(of: .numbered(1), isFirst: true, address: nil)
                let mark = first.marks[.numbered(1)] ?? 0
                // Retire the replica twice, as two other replicas may do.
                for _ in 0..<2 {
                    try ContractViolation.require(try await engine.giveUp(.numbered(1), seen: mark), "given up")
                }
                try ContractViolation.require(
                    try await engine.giveUp(.numbered(3), seen: 0), "one that never gave a sign")
                let told = try await engine.heartbeat(of: .numbered(1), isFirst: false, address: nil)
                try ContractViolation.require(told.wasGivenUp, "told")
                try ContractViolation.requireEqual(told.marks, [:], "marks")
                let anew = try await engine.heartbeat(of: .numbered(2), isFirst: true, address: nil)
                try ContractViolation.require(!anew.wasGivenUp, "anew")
                try ContractViolation.requireEqual(Set(anew.marks.keys), [.numbered(2)], "copies")
            },
        ]
    }
}
