/// How often what happened: a run in which a fault never struck proves nothing about it.
package struct Coverage: Sendable {
    package enum Item: Int, CaseIterable, Sendable {
        // Faults.
        case hostCrash, hostReboot, hostPause, serverCrash, serverReboot, serverPause, serverRestore, partition
        case oneWayPartition, wallStep, rateChange, messageLost, messageDoubled, messageSlow, storeKilled, serverKilled
        case policyChanged, linkLost, unsyncedLost, storeWentBack, wentAway, cameHome
        case repeatedLate, wishInOutage, hostIn2099, serverIn2099
        // Leases.
        case acquireGranted, acquireRepeated, refusedHeld, refusedRevoking, refusedReserved, refusedRestoring
        case refusedReleased, renewed, lostTakenOver, lostRevoking, lostReleased, lostUnknown, released, revoked
        case permit, permitUnleased, withdrawnUnwanted, withdrawnRevoked, withdrawnTakenOver, withdrawnHardStop
        case withdrawnUnknown, queued, offered, takeover, predecessor, afterExpiry
        // Sync.
        case written, deleted, pushed, pageApplied, refetch, adopted, restamped, corrected, zoneCreated, split, parked
        case notAuthenticated, permissionDenied, zoneNotFound, tokenExpiredFloor, tokenExpiredEpoch, limitExceeded
        case timelineLost, rateLimited, serviceUnavailable, clockSkew, badRequest, network, wrongCertificate
        case purged, cleanedUp, halted, cancelled, streamBroke, pollRun, counterTwin
        case setAside, zoneEntered
        // Watched meters.
        case relayShown, relayHandedOver, relayRefused, relayTakenLate, relayFenced
        // Runs.
        case runStrict, runKeep, runOneLoss, runEdge, historyLinearizable, historyUndecided, converged
    }

    private var counts = [Int](repeating: 0, count: Item.allCases.count)

    package init() {}

    package subscript(_ item: Item) -> Int { counts[item.rawValue] }

    package mutating func note(_ item: Item, _ times: Int = 1) { counts[item.rawValue] += times }

    package static func += (left: inout Self, right: Self) {
        for index in left.counts.indices { left.counts[index] += right.counts[index] }
    }

    package var missing: [Item] { Item.allCases.filter { self[$0] == 0 && $0 != .historyUndecided } }
}
