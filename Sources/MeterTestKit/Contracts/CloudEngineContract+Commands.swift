import Cloud
import CloudAPI
import CoreTestKit
import Domain

extension CloudEngineContract {
    private static func command(
        _ author: UInt64 = 2, token: UInt64 = 1, outcome: RelayCommandAnswer? = nil
    ) -> StoredCommand {
        var action = RelayActionBody(kind: "command")
        (action.command, action.number, action.name) = ("rotate – ü", 3, "a/b")
        return StoredCommand(
            CommandWish(author: .numbered(author), meter: "port:/dev/a/b", token: token, action: action),
            holder: .numbered(1), holderName: "Host 1 – ü", outcome: outcome)
    }

    /// Claims a command as the cloud does: only if its id is new, and a host holds the lease with the command's fencing
    /// token.
    private static func claim(
        _ engine: any CloudEngine, id: UInt64 = 1, in zone: String = zone, _ command: StoredCommand = command()
    ) async throws -> Bool {
        try await engine.decideCommand(.numbered(id), under: meter, in: zone) { stored, lease in
            guard stored == nil, lease?.holder != nil, lease?.token.rawValue == command.wish.token else {
                return CommandDecision(false)
            }
            return CommandDecision(true, storing: command)
        }
    }

    private static func stored(_ engine: any CloudEngine, _ id: UInt64 = 1) async throws -> StoredCommand? {
        try await engine.decideCommand(.numbered(id), under: nil, in: zone) { stored, _ in CommandDecision(stored) }
    }

    private static func end(_ engine: any CloudEngine, id: UInt64 = 1, _ answer: RelayCommandAnswer) async throws {
        try await engine.decideCommand(.numbered(id), under: nil, in: zone) { stored, _ in
            guard var command = stored else { return CommandDecision(()) }
            command.outcome = answer
            return CommandDecision((), storing: command)
        }
    }

    static var commandClauses: [Clause] {
        [
            inZone("command_comesBackWhole_withItsOutcome") { engine in
                _ = try await decide(engine, acquire(1))
                try ContractViolation.requireEqual(await stored(engine), nil, "none at first")
                try ContractViolation.require(try await claim(engine), "claimed")
                try ContractViolation.requireEqual(await stored(engine), command(), "claimed")
                var answer = RelayCommandAnswer(.refused, message: "no – ü")
                (answer.code, answer.next, answer.result, answer.holderName) = ("refused", "n", "{}", "Host 1")
                try await end(engine, answer)
                try ContractViolation.requireEqual(await stored(engine), command(outcome: answer), "ended")
            },
            inZone("command_isClaimedOnce_whenManyClaimAtOnce") { engine in
                _ = try await decide(engine, acquire(1))
                let granted = try await atOnce(16) { _ in try await claim(engine) }
                try ContractViolation.requireEqual(granted.count { $0 }, 1, "granted")
            },
            inZone("claim_seesTheLeaseAsItIs") { engine in
                try ContractViolation.require(try await !claim(engine), "without a lease")
                let first = token(try await decide(engine, acquire(1))) ?? .max
                let second = token(try await takeOver(engine, by: 2)) ?? .max
                let isOld = try await claim(engine, command(token: first.rawValue))
                try ContractViolation.require(!isOld, "taken over")
                _ = try await release(engine, second, session: 2)
                let isFree = try await claim(engine, command(token: second.rawValue))
                try ContractViolation.require(!isFree, "released")
                try ContractViolation.requireEqual(await stored(engine), nil, "nothing is stored")
            },
            inZone("claim_andTakeover_haveAnOrder") { engine in
                for round in UInt64(1)...8 {
                    let host = 10 * round
                    let held = token(try await takeOver(engine, by: host)) ?? .max
                    let command = command(token: held.rawValue)
                    async let isClaimed = claim(engine, id: round, command)
                    async let next = takeOver(engine, by: host + 1)
                    let (claimed, taken) = (try await isClaimed, token(try await next))
                    try ContractViolation.require(taken != nil, "taken over")
                    try ContractViolation.requireEqual(
                        await stored(engine, round), claimed ? command : nil, "round \(round)")
                    try ContractViolation.require(try await !claim(engine, id: 100 + round, command), "afterwards")
                }
            },
            inZone("commands_areCounted_byAuthorAndZone") { engine in
                _ = try await engine.createZone("other", terms: .standard)
                _ = try await decide(engine, acquire(1))
                _ = try await engine.decideLease(of: meter, in: "other") {
                    LeaseRules.acquire(acquire(1), of: $0, in: circumstances())
                }
                for (id, author) in [(1, 2), (2, 2), (3, 3)] as [(UInt64, UInt64)] {
                    _ = try await claim(engine, id: id, command(author))
                }
                _ = try await claim(engine, in: "other")
                try await end(engine, RelayCommandAnswer(.done))
                for (author, zone, counts) in [
                    (2, zone, CommandCounts(host: 2, zone: 3)), (3, zone, CommandCounts(host: 1, zone: 3)),
                    (4, zone, CommandCounts(host: 0, zone: 3)), (2, "other", CommandCounts(host: 1, zone: 1)),
                ] as [(UInt64, String, CommandCounts)] {
                    try ContractViolation.requireEqual(
                        await engine.commandCounts(of: .numbered(author), in: zone), counts, "\(author) in \(zone)")
                }
                let marks = try await engine.commandMarks()
                try ContractViolation.requireEqual(
                    Set(marks.map { "\($0.zone) \($0.requestID) \($0.author)" }),
                    Set(
                        ([("home", 1, 2), ("home", 2, 2), ("home", 3, 3), ("other", 1, 2)] as [(String, UInt64, UInt64)])
                            .map { "\($0) \(RequestID.numbered($1)) \(HostID.numbered($2))" }), "all")
            },
            inZone("command_isForgotten_onlyAsItWasSeen") { engine in
                _ = try await decide(engine, acquire(1))
                for id in UInt64(1)...50 { _ = try await claim(engine, id: id) }
                let seen = try await engine.commandMarks()
                try await end(engine, id: 7, RelayCommandAnswer(.done))
                // Delete the commands twice, as two replicas may do.
                for _ in 0..<2 { try await engine.forget(seen) }
                let left = try await engine.commandMarks()
                try ContractViolation.requireEqual(left.map(\.requestID), [.numbered(7)], "left")
                try ContractViolation.requireEqual(await stored(engine, 1), nil, "forgotten")
                try ContractViolation.requireEqual(await stored(engine, 7)?.outcome?.outcome, .done, "changed")
                try ContractViolation.require(try await claim(engine), "one that was forgotten, claimed anew")
                try await engine.forget(seen)
                try ContractViolation.requireEqual(await stored(engine, 1), command(), "another under its id")
                try await engine.forget(engine.commandMarks())
                try ContractViolation.requireEqual(
                    await engine.commandCounts(of: .numbered(2), in: zone), CommandCounts(host: 0, zone: 0), "counts")
            },
        ]
    }
}
