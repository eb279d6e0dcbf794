import Domain
import Glibc
import LeaseWitness
import LinuxIO

// usage: LeaseHistories [seed]
//
// Ends with 0 when every history of the good cloud can be explained, with all that it has to have met, and none of the
// faulty ones can. See README.md.

/// The cloud in this process, first good, then with each fault.
func servedRuns(seed: UInt64) async throws {
    var least = HistoryFigures()
    (least.answered, least.renewals, least.releases) = (1500, 100, 100)
    (least.takeovers, least.revocations, least.successions, least.expiries) = (20, 10, 10, 4)
    (least.exhaustions, least.commands, least.repeats, least.lateRepeats) = (5, 20, 10, 3)
    let deadline = LinuxClock.now + .seconds(120)
    let good = try await ServedCloud.run(fault: nil, seed: seed) { [least] in
        $0.figures.reaches(least) || LinuxClock.now > deadline
    }
    try judge(good, "the server in this process", least)

    for fault in PlantedFault.ofLeases {
        try await findFault(fault, seed: seed)
    }
}

/// Each attack at a cloud that fails it, as the good one has them in every run; and a flood of commands at both.
func attackRuns(seed: UInt64) async throws {
    for (fault, complaints) in PlantedFault.ofAttacks {
        try await findFault(fault, complaints, seed: seed)
    }
    let flood = try await ServedCloud.flood(fault: nil)
    say("the server in this process, flooded: \(flood.figures)")
    if let complaint = flood.complaints.first { throw RunFailure("the server in this process, flooded: \(complaint)") }
    for fault in PlantedFault.ofFloods {
        let flood = try await ServedCloud.flood(fault: fault)
        guard !flood.isTooBusy else {
            say("planted \(fault): \(flood.figures)")
            continue
        }
        // Who walks long answers late, or keeps so many connections that there is none for others.
        guard let found = flood.complaints.first, found.contains("are stored") == (fault == .sharesOnePool) else {
            throw RunFailure("planted \(fault): found only \(flood.complaints.first ?? flood.figures)")
        }
        say("planted \(fault): found, \(found)")
    }
}

/// Goes on until it is found, as chance has a part in it.
///
/// - Parameter complaints: words of the complaint that has to come, one of these. Empty: no order of calls explains it.
func findFault(_ fault: PlantedFault, _ complaints: [String] = [], seed: UInt64) async throws {
    for round in 1...10 as ClosedRange<UInt64> {
        // A lease that runs out early needs some time to.
        let enough = 600 * Int(round)
        let deadline = LinuxClock.now + .seconds(complaints.isEmpty ? 10 : 30)
        let histories = try await ServedCloud.run(fault: fault, seed: seed &+ round) {
            let isOver = complaints.isEmpty ? $0.count >= enough : $0.contains { $0.attackComplaint != nil }
            return isOver || LinuxClock.now > deadline
        }
        if !complaints.isEmpty, let found = histories.compactMap(\.attackComplaint).first {
            guard complaints.contains(where: { found.contains($0) }) else {
                throw RunFailure("planted \(fault): found, but as \(found)")
            }
            return say("planted \(fault): found in round \(round), \(histories.count) calls: \(found)")
        }
        if complaints.isEmpty, histories.contains(where: \.isRefuted) {
            return say("planted \(fault): found in round \(round), \(histories.count) calls")
        }
    }
    throw RunFailure("planted \(fault): not found in ten rounds")
}

/// The program, killed again and again, and then left alone until leases have run out.
func killedRun(seed: UInt64) async throws {
    let cloud = try KilledCloud()
    let pin = try await cloud.start()
    let crowd = try await LeaseCrowd(
        try cloud.prepareZones(), seed: seed, pin: pin, now: { LinuxClock.now }, address: { cloud.url.map { [$0] } })
    var least = HistoryFigures()
    (least.answered, least.unknown, least.renewals, least.releases) = (2000, 1, 100, 100)
    (least.takeovers, least.revocations, least.successions, least.expiries) = (20, 10, 10, 2)
    (least.exhaustions, least.commands, least.repeats, least.lateRepeats) = (5, 20, 10, 3)

    func work(_ calls: Int) async throws {
        let enough = crowd.histories.count + calls
        try await wait(seconds: 60) { crowd.histories.count >= enough }
    }
    var kills = 0
    func killAndStart() async throws {
        cloud.kill()
        kills += 1
        try await cloud.start()
    }
    try await crowd.run {
        // On a quick machine, a kill seldom meets a call.
        while kills < 4 || (kills < 30 && crowd.histories.figures.unknown < least.unknown) {
            try await work(300)
            try await killAndStart()
        }
        // A start counts every lease as renewed, so that none runs out before its whole time has passed again.
        try await wait(seconds: 150) { crowd.histories.figures.reaches(least) }
        try await killAndStart()
        try await work(200)
    }
    cloud.kill()
    try judge(crowd.histories, "metercloud, killed \(kills) times", least)
}

/// - Throws: nothing where the time runs out: what is missing then, the judgement says.
func wait(seconds: Int, until isSo: () -> Bool) async throws {
    let deadline = LinuxClock.now + .seconds(seconds)
    while !isSo(), LinuxClock.now < deadline { try await Task.sleep(for: .milliseconds(250)) }
}

/// Seen at once, also through a pipe.
func say(_ words: String) {
    print(words)
    fflush(nil)
}

func judge(_ histories: [LeaseHistory], _ name: String, _ least: HistoryFigures) throws {
    let figures = histories.figures
    say("\(name): \(figures)")
    if let complaint = histories.complaint { throw RunFailure("\(name): \(complaint)") }
    guard figures.reaches(least) else { throw RunFailure("\(name): too little to prove anything; at least \(least)") }
    say("\(name): linearizable")
}

let seed = CommandLine.arguments.dropFirst().first.flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999)
say("seed \(seed)")
do {
    // Beside each other, as they mostly wait, for leases to run out.
    async let killed: Void = killedRun(seed: seed)
    async let attacks: Void = attackRuns(seed: seed)
    try await servedRuns(seed: seed)
    try await attacks
    try await killed
} catch {
    say("\(error)")
    say("FAILED, seed \(seed)")
    exit(1)
}
