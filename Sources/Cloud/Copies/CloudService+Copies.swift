import Domain
import Logging

extension CloudService {
    /// Sends heartbeats, and removes from the queues the hosts that wait through a dead replica. A host that has
    /// already rejoined through another replica keeps its place. Runs until its task is cancelled.
    package func liveAmongCopies() async {
        var life = ReplicaGeneration()
        while !Task.isCancelled {
            let now = clock.now()
            await lookAround(&life)
            do {
                try await clock.sleep(now + FailureDetector.interval)
            } catch {
                // Cancelled: the loop condition ends the loop.
            }
        }
    }

    struct ReplicaGeneration {
        var detector = FailureDetector()
        var name: ReplicaID?
        var isBlind = false
    }

    func lookAround(_ life: inout ReplicaGeneration) async {
        let me = copy
        let isFirst = life.name != me
        life.name = me
        do {
            let heartbeats = try await engine.heartbeat(of: me, isFirst: isFirst, address: post.ownAddress)
            guard !heartbeats.wasGivenUp else {
                logger.warning("this replica was removed by another replica: waiting hosts rejoin the lease queues")
                becomeAnother()
                hub.endQueues()
                return
            }
            try await meet(heartbeats.addresses)
            var marks = heartbeats.marks
            for waited in queues.copies where marks[waited] == nil { marks[waited] = 0 }
            marks[me] = nil
            for silent in life.detector.look(at: marks, now: clock.now()) { try await giveUp(silent) }
            life.isBlind = false
        } catch {
            if !life.isBlind { logger.warning("replica check failed", metadata: ["error": "\(error)"]) }
            life.isBlind = true
        }
    }

    private func giveUp(_ silent: FailureDetector.Silence) async throws {
        // Once its heartbeat is removed, that replica must take a new id.
        guard try await engine.giveUp(silent.copy, seen: silent.mark) else { return }
        let places = queues.places(waitedAtThrough: silent.copy)
        logger.notice(
            "replica removed", metadata: ["copy": "\(silent.copy)", "queues": "\(places.count)"])
        for place in places {
            let queue = try await change(.leaveAll(of: silent.copy), at: place)
            if queue.isNews { await tellQueue(at: place) }
            await settleQueue(of: place)
        }
    }
}
