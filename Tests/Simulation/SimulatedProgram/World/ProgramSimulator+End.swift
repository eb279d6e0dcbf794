import Domain
import Gateway
import SimulatedCloud

/// How a run ends: everything is healed, and all have to be equal soon.
extension ProgramSimulator {
    mutating func healEverything() throws {
        world.note("everything is healed")
        isHealed = true
        cloud.life?.resume()
        try cloud.start()
        for host in hosts {
            host.link.lossPermille = 0
            host.link.doublePermille = 0
            host.link.slowPermille = 0
            healLink(host.index)
            host.run?.life.resume()
            try host.start()
        }
        plan(.look, at: world.now + 5 * .second)
    }

    mutating func look() throws {
        let records = try cloud.records()
        guard let difference = try hosts.lazy.compactMap({ try difference(of: $0, from: records) }).first else {
            world.coverage.note(.converged)
            world.judge.judgeEnd([records], whereabouts: hosts.map { _ in 0 })
            isOver = true
            return
        }
        // The longest that anything waits is a back-off of five minutes and a poll after five.
        if world.now > scenario.length + 20 * .minute {
            world.judge.object("not equal 20 minutes after everything was healed: \(difference)")
        }
        // An answer that was under way when everything was healed may have halted a session; a person sees it.
        for host in hosts { host.run?.engine?.resume() }
        plan(.look, at: world.now + 5 * .second)
    }

    /// What a host has otherwise than the cloud; nil where they are equal.
    private func difference(of host: HostMachine, from cloud: [RecordKey: SyncRecord]) throws -> String? {
        if try host.pending() > 0 { return "\(host.name) still has something to tell" }
        let mine = try host.records()
        for key in Set(mine.keys).union(cloud.keys).sorted(by: { $0.name < $1.name }) {
            let (own, theirs) = (mine[key]?.properties ?? [:], cloud[key]?.properties ?? [:])
            if own != theirs { return "\(host.name) has \(key.name) as \(own), the cloud as \(theirs)" }
        }
        return nil
    }
}
