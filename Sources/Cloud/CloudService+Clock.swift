import Domain

extension CloudService {
    /// What the accepted stamps say against this machine's calendar, if anything and if the store knows.
    ///
    /// Stamps ahead of the cloud's clock are refused, so accepted ones are ahead only if the clock has gone back since.
    package func clockWarning() async -> String? {
        guard let newest = try? await engine.newestStamp() else { return nil }
        let now = clock.wallNow()
        guard newest > now + .milliseconds(Int64(StampLimit.ahead)) else { return nil }
        return "this machine's clock is behind, or was ahead once: it says \(now), and changes dated up to \(newest) "
            + "were accepted. Look at the clock (timedatectl): until it has caught up, the order of changes is counted on "
            + "from there, and none is lost"
    }
}
