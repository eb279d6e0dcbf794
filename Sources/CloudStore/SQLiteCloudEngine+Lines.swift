package import Cloud

/// In memory alone: whoever waits has its event stream open, which ends with this process, and queues again.
extension SQLiteCloudEngine {
    package func changeLine(
        at place: MeterPlace, _ change: @escaping @Sendable ([Waiter]) -> [Waiter]
    ) async throws -> SharedLine {
        guard zoneTable.find(place.zone) != nil else { throw CloudFailure.zoneNotFound(place.zone) }
        return waiting.change(place, change)
    }

    package func lines() async throws -> LineReading { waiting.reading }

    package func showLife(of copy: CopyID, isFirst: Bool) async throws -> CopySigns {
        waiting.showLife(of: copy, isFirst: isFirst)
    }

    package func giveUp(_ copy: CopyID, seen mark: UInt64) async throws -> Bool {
        waiting.giveUp(copy, seen: mark)
    }
}
