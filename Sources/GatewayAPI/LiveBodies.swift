/// The data of one event of `GET /v1/live`. Unchanged parts are absent.
package struct LiveBody: Codable, Hashable, Sendable {
    /// This host's calendar at the time, in milliseconds since 1970.
    package var at: Int64
    /// In `all`, every meter; in `changes`, those that changed.
    package var meters: [MeterStatus]?
    package var adapters: [AdapterStatus]?
    package var store: StoreStatus?
    package var cloud: CloudStatus?
    package var sync: SyncStatusBody?
    /// Rises whenever settings change, here or on another host.
    package var refresh_version: UInt64?
    /// Number of alerts that are raised.
    package var alerts_raised: Int?

    package init(at: Int64) { self.at = at }

    /// Whether it contains nothing worth sending.
    package var isEmpty: Bool {
        (meters ?? []).isEmpty && adapters == nil && store == nil && cloud == nil && sync == nil
            && refresh_version == nil && alerts_raised == nil
    }
}
