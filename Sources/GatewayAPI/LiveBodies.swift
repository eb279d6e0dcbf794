/// The data of one event of `GET /v1/live`. What did not change is absent.
package struct LiveBody: Codable, Hashable, Sendable {
    /// This host's calendar when it looked, milliseconds since 1970.
    package var at: Int64
    /// In `all` every meter, in `changes` those that changed.
    package var meters: [MeterStatus]?
    package var adapters: [AdapterStatus]?
    package var store: StoreStatus?
    package var cloud: CloudStatus?
    package var sync: SyncStatusBody?
    /// Rises whenever settings changed here or on another host.
    package var refresh_version: UInt64?

    package init(at: Int64) { self.at = at }

    /// Nothing in it is worth sending.
    package var isEmpty: Bool {
        (meters ?? []).isEmpty && adapters == nil && store == nil && cloud == nil && sync == nil
            && refresh_version == nil
    }
}
