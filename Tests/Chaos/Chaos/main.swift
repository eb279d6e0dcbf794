import Cloud
import CloudClient
import CloudEtcd
import Domain
import Foundation
import LeaseWitness
import LinuxIO
import Logging

// usage: Chaos hosts|copy|flood|observer|judge NAME=VALUE… [JOURNAL…]
//
// The parts of the fault suite that speak with the cloud, and the judge. Tests/Chaos/run starts them; see README.md.

/// What was given as NAME=VALUE.
struct ChaosOptions {
    var values: [String: String] = [:]
    var others: [String] = []

    init(_ arguments: some Sequence<String>) {
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2 { values[parts[0]] = parts[1] } else { others.append(argument) }
        }
    }

    func text(_ name: String) throws -> String {
        guard let value = values[name] else { throw ChaosFailure("\(name)= is missing") }
        return value
    }

    func number(_ name: String) throws -> Int64 {
        guard let number = Int64(try text(name)) else { throw ChaosFailure("\(name)= takes a number") }
        return number
    }

    /// A moment in nanoseconds; nil where none is given.
    func time(_ name: String) throws -> MonotonicTime? {
        values[name] == nil ? nil : MonotonicTime(sinceOrigin: .nanoseconds(try number(name)))
    }
}

func judge(_ options: ChaosOptions) throws -> Bool {
    var judge = Judge()
    judge.hasEnd = options.values["end"] != "no"
    judge.isLimited = options.values["limited"] == "yes"
    judge.wentBackAt = try options.time("wentback")
    judge.restoredAt = try options.time("restored")
    judge.journal.until = try options.time("until")
    for path in options.others { try judge.journal.read(path) }
    let complaints = judge.complaints()
    for (name, number) in judge.numbers { say("\(name) \(number)") }
    for complaint in complaints { say("complaint \(complaint)") }
    return complaints.isEmpty
}

/// Floods a copy of the cloud, whose store is reached past it, with ten commands a second of each host: with three
/// members of etcd on one machine, much more is too much for that machine.
func flood(_ options: ChaosOptions) async throws -> Bool {
    let enrolments = try CommandFlood.zones.map {
        Secret(try HostProcess.enrolment(in: try options.text("enrolment"), zone: $0))
    }
    let url = try options.text("url")
    let engine = try await etcd(options)
    let flood = try await CommandFlood(url: url, enrolments: enrolments, pause: .milliseconds(100), engine: engine)
    await engine.close()
    say(flood.figures)
    for complaint in flood.complaints { say("complaint \(complaint)") }
    return flood.complaints.isEmpty
}

let quiet = Logger(label: "chaos") { _ in SwiftLogNoOpLogHandler() }
let clock = CloudClock(
    now: { LinuxClock.now }, wallNow: { LinuxClock.wallNow },
    sleep: { try await Task.sleep(for: max(.zero, $0 - LinuxClock.now)) })

func etcd(_ options: ChaosOptions) async throws -> EtcdCloudEngine {
    var rng = SystemRandomNumberGenerator()
    return try await EtcdCloudEngine.open(
        EtcdSettings(urls: try options.text("etcd").split(separator: ",").map(String.init)), clock: clock, rng: &rng,
        logger: quiet)
}

let options = ChaosOptions(CommandLine.arguments.dropFirst(2))
do {
    switch CommandLine.arguments.dropFirst().first {
    case "hosts": try await HostProcess(options: options).run()
    case "copy": try await PlantedReplica(options: options).run()
    case "flood": exit(try await flood(options) ? 0 : 2)
    case "observer": try await ZoneObserver(options: options).run()
    case "judge": exit(try judge(options) ? 0 : 2)
    default: throw ChaosFailure("usage: Chaos hosts|copy|flood|observer|judge NAME=VALUE… [JOURNAL…]")
    }
} catch {
    say("failure \(error)")
    exit(1)
}
