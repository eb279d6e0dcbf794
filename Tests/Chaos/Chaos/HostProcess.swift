import CloudAPI
import CloudClient
import Domain
import Foundation
import LeaseWitness
import LinuxIO
import SimulatedCloud
import Synchronization

/// One process with several hosts of one zone, as `cluster.py` starts it. Told by lines on its input what is next.
struct HostProcess {
    let options: ChaosOptions

    /// The token with which hosts join a zone: `metercloud token create` has put it there.
    static func enrolment(in prefix: String, zone: String, _ kind: String = "") throws -> String {
        try String(contentsOfFile: "\(prefix).\(zone)\(kind)", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func run() async throws {
        let journal = try Journal(path: try options.text("journal"))
        let place = ChaosHost.Place(
            folder: try options.text("folder"), urls: try options.text("urls").split(separator: ",").map(String.init),
            zone: try options.text("zone"),
            enrolment: try Self.enrolment(in: try options.text("enrolment"), zone: try options.text("zone")),
            isVisit: options.values["visit"] == "yes",
            generations: Generations(
                origin: MonotonicTime(sinceOrigin: .nanoseconds(try options.number("origin"))),
                length: .seconds(try options.number("generation"))),
            usesOn: options.values["fault"] == "usesOn")
        let (first, count) = (try options.number("first"), try options.number("count"))
        let seed = UInt64(bitPattern: try options.number("seed"))
        let orders = Orders()
        orders.listen()
        if try options.number("wild") > 0 {
            return try await WildCrowd(place: place, journal: journal, options: options).run(orders)
        }
        var hosts: [ChaosHost] = []
        for number in first..<(first + count) {
            // Each begins with another copy of the cloud.
            var own = place
            own.urls = place.urls.indices.map { place.urls[($0 + Int(number)) % place.urls.count] }
            hosts.append(
                try await ChaosHost("host\(number)", at: own, journal: journal, seed: seed &* 1000 &+ UInt64(number)))
        }
        say("running")
        let left = Countdown(hosts.count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for host in hosts {
                group.addTask {
                    try await host.run(
                        until: { await orders.wait(for: "drain") },
                        drained: { if left.isOverAfterOneMore() { say("drained") } },
                        finish: { await orders.wait(for: "finish") })
                }
            }
            try await group.waitForAll()
        }
        say("finished")
    }
}

/// Users who do with leases whatever comes to their minds, new ones and new meters for each generation.
private struct WildCrowd {
    let place: ChaosHost.Place
    let journal: Journal
    let options: ChaosOptions

    func run(_ orders: Orders) async throws {
        say("running")
        var generation = 0
        let seed = UInt64(bitPattern: try options.number("seed"))
        let count = Int(try options.number("wild"))
        while !orders.has("drain") {
            generation += 1
            let first = seed &+ UInt64(1000 * generation)
            let number = place.generations.number(at: LinuxClock.now)
            let end = place.generations.origin + place.generations.length * (number + 1)
            let goesOn: @Sendable () -> Bool = { !orders.has("drain") && LinuxClock.now < end }
            try await withThrowingDiscardingTaskGroup { group in
                for user in 0..<count {
                    group.addTask { try await live(as: user, number, seed: first &+ UInt64(user), while: goesOn) }
                }
            }
        }
        say("drained")
        await orders.wait(for: "finish")
        say("finished")
    }

    /// Joins, as a new host each time where the cloud is down, and runs.
    private func live(
        as user: Int, _ generation: Int, seed: UInt64, while goesOn: @escaping @Sendable () -> Bool
    ) async throws {
        var seed = seed
        while goesOn() {
            if let new = try await join(user, generation, seed: seed) { return await new.run(while: goesOn) }
            try await Task.sleep(for: .milliseconds(300))
            seed &+= 10
        }
    }

    private func join(_ user: Int, _ generation: Int, seed: UInt64) async throws -> LeaseUser? {
        let index = user % Judge.zones.count
        let zone = Judge.zones[index]
        let enrolments = try ["", ".read-only"].map {
            Secret(try HostProcess.enrolment(in: try options.text("enrolment"), zone: zone.name, $0))
        }
        let journal = journal
        let history = LeaseHistory(
            terms: zone.terms, leaseLimit: options.values["limited"] == "yes" ? WitnessZones.leaseLimit : nil,
            now: { LinuxClock.now },
            tell: { operation in
                guard let meter = MeterID(operation.meter) else { return }
                journal.add(operation, of: meter, in: zone.name)
            }, tellEvent: { journal.add($0) }, surprise: { journal.surprise($0) })
        // Refused and unreachable are the same to it.
        return try? await LeaseUser(
            "wild\(generation)-\(user)", seed: seed,
            meters: ZoneMeters(zone: UInt8(index), generation: generation), history: history,
            address: { [urls = place.urls] in urls },
            enrolments: enrolments, pin: nil)
    }
}

/// What stands on this process's input, one order a line. The end of it is the end of everything.
final class Orders: Sendable {
    private let given = Mutex<Set<String>>([])

    func listen() {
        Thread.detachNewThread { [self] in
            while let line = readLine() { given.withLock { _ = $0.insert(line) } }
            exit(0)
        }
    }

    func has(_ order: String) -> Bool { given.withLock { $0.contains(order) } }

    func wait(for order: String) async {
        while !has(order) {
            // Cancelled, it looks again at once, which is as good.
            try? await Task.sleep(for: .milliseconds(100))
        }
    }
}

private final class Countdown: Sendable {
    private let left: Atomic<Int>

    init(_ count: Int) { left = Atomic(count) }

    func isOverAfterOneMore() -> Bool { left.wrappingSubtract(1, ordering: .relaxed).newValue == 0 }
}

final class Flag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }
    func set() { flag.store(true, ordering: .relaxed) }
}

/// Seen at once, also through a pipe. Not through `fflush`, which waits for whoever reads the standard input.
func say(_ words: String) { FileHandle.standardOutput.write(Data("\(words)\n".utf8)) }
