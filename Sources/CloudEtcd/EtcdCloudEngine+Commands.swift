package import Cloud
package import Domain

struct CommandEntry: StoredValue, Hashable {
    var command: StoredCommand
    var writer: String
}

extension EtcdCloudEngine {
    /// Maximum number of attempts: more conflicts mean a fault, not competing writers.
    private static let commandRoundsMax = 200
    /// Number of commands deleted per request: each needs a nested transaction with two deletions.
    private static let commandsForgottenAtOnce = EtcdTransaction.operationsMax / 3

    package func decideCommand<Answer: Sendable>(
        _ id: RequestID, under meter: String?, in zone: String,
        _ rule: @escaping @Sendable (StoredCommand?, LeaseRecord?) -> CommandDecision<Answer>
    ) async throws -> Answer {
        try await finish { [self] in
            try await check(zone)
            let places = [keys.command(id, in: zone)] + (meter.map { [keys.lease(of: $0, in: zone)] } ?? [])
            let writer = nextWriter()
            var tried: (value: [UInt8], answer: Answer)?
            for _ in 0..<Self.commandRoundsMax {
                let found = try await client.read(places.map { EtcdRange(key: $0) }).ranges.map(\.entries.first)
                // If the stored value is ours, an earlier attempt's answer was lost.
                if let tried, found[0]?.value == tried.value { return tried.answer }
                let stored = try found[0].map { entry throws(EtcdError) in try CommandEntry(entry).command }
                let lease = try (found.count > 1 ? found[1] : nil).map { entry throws(EtcdError) in
                    try SeenLease(entry, pulse: 0, at: clock.now())
                }
                let decision = rule(stored, lease?.record)
                guard let command = decision.command else { return decision.answer }
                let value = try CommandEntry(command: command, writer: writer).bytes
                var transaction = EtcdTransaction(
                    compares: zip(places, found).map { EtcdCompare(key: $0, revision: $1?.revision ?? 0) })
                transaction.success = [
                    .put(key: places[0], value: value),
                    .put(key: keys.commandShare(id, of: command.wish.author, in: zone), value: []),
                ]
                if try await client.commit(transaction).succeeded { return decision.answer }
                tried = (value, decision.answer)
            }
            throw EtcdError(.overloaded, "too many others change the command \(id). Try again")
        }
    }

    package func commandCounts(of author: HostID, in zone: String) async throws -> CommandCounts {
        try await finish { [self] in
            try await check(zone)
            let prefixes = [keys.commandShares(of: author.description, in: zone), keys.commandShares(in: zone)]
            let counts = try await client.read(
                prefixes.map { prefix in
                    var range = EtcdRange(prefix: prefix)
                    range.isCountOnly = true
                    return range
                }
            ).ranges.map { Int(clamping: $0.count) }
            return CommandCounts(host: counts[0], zone: counts[1])
        }
    }

    package func commandMarks() async throws -> [CommandMark] {
        try await finish { [self] in
            var range = EtcdRange(prefix: keys.allCommandShares)
            range.isKeysOnly = true
            var marks: [CommandMark] = []
            try await client.readAll(range, isOfOneState: false) { entry in
                if let mark = keys.commandMark(entry) { marks.append(mark) }
            }
            return marks
        }
    }

    package func forget(_ commands: [CommandMark]) async throws {
        try await finish { [self] in
            var left = commands[...]
            while !left.isEmpty {
                let few = left.prefix(Self.commandsForgottenAtOnce)
                left = left.dropFirst(few.count)
                let steps = few.map { seen in
                    let share = keys.commandShare(seen.requestID, of: seen.author, in: seen.zone)
                    var step = EtcdTransaction(compares: [EtcdCompare(key: share, revision: seen.mark)])
                    step.success = [
                        .delete(key: keys.command(seen.requestID, in: seen.zone)), .delete(key: share),
                    ]
                    return EtcdOperation.transaction(step)
                }
                _ = try await client.commit(EtcdTransaction(success: steps))
            }
        }
    }
}
