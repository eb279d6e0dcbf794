import Domain

extension CloudService {
    /// Returns a warning if stamps of accepted changes are ahead of this machine's wall clock. The cloud refuses such
    /// stamps, so the wall clock was set back since.
    package func clockWarning() async -> String? {
        guard let newest = try? await engine.newestStamp() else { return nil }
        let now = clock.wallNow()
        guard newest > now + .milliseconds(Int64(StampLimit.ahead)) else { return nil }
        return "this machine's clock is behind, or was ahead once: it says \(now), and changes dated up to \(newest) "
            + "were accepted. Look at the clock (timedatectl): until it has caught up, the order of changes is counted on "
            + "from there, and none is lost"
    }
}
