/// Data of one event of `GET /v1/live`. Unchanged parts are absent.
package struct LiveBody: Codable, Hashable, Sendable {
    /// Milliseconds since 1970, by this host's system clock.
    package var at: Int64
    /// All meters in an `all` event, changed ones in a `changes` event.
    package var meters: [MeterStatus]?
    package var adapters: [AdapterStatus]?
    package var store: StoreStatus?
    package var cloud: CloudStatus?
    package var sync: SyncStatusBody?
    /// Rises with each change of settings, here or on another host.
    package var refresh_version: UInt64?
    package var alerts_raised: Int?

    package init(at: Int64) { self.at = at }

    package var isEmpty: Bool {
        (meters ?? []).isEmpty && adapters == nil && store == nil && cloud == nil && sync == nil
            && refresh_version == nil && alerts_raised == nil
    }
}
