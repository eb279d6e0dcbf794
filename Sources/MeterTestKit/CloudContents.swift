package import Cloud
package import Domain

/// Complete content of a cloud's store, except for renewal times of leases.
package struct CloudContents: Hashable {
    package struct Lease: Hashable {
        package var meter: String
        package var state: LeaseRecord.State
        package var token: FencingToken
        package var terms: LeaseTerms
        package var grants: [LeaseGrant]
    }

    package var epoch: String
    package var zones: [Zone]
    package var credentials: [Credential]
    package var records: [SyncRecord]
    package var leases: [Lease]

    package init(of engine: any CloudEngine) async throws {
        epoch = try await engine.epoch
        zones = try await engine.zones()
        credentials = try await engine.credentials(in: nil)
        records = []
        leases = []
        for zone in zones {
            records += try await engine.records(in: zone.name, type: nil)
            leases += try await engine.leases(in: zone.name).map {
                Lease(
                    meter: $0.meter, state: $0.record.state, token: $0.record.token, terms: $0.record.terms,
                    grants: $0.record.grants)
            }
        }
    }
}
