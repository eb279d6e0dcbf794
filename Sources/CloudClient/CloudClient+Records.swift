import CloudAPI
package import Domain
import Gateway
import NIOHTTP1

extension CloudClient: CloudLink {
    package func account() async throws(SyncFailure) -> CloudAccount {
        let body: AccountBody = try await call(.GET, "/v1/account")
        guard let account = CloudAccount(body) else {
            throw SyncFailure(.other, "/v1/account: \"\(body.hostID)\" is not a host id, or its time cannot be read")
        }
        return account
    }

    package func createZone(_ zone: String, id: String?) async throws(SyncFailure) {
        let path = "/v1/zones/\(zone.urlPart)"
        // Without an id, send no body: older clouds expect none.
        guard let id else {
            let _: Ignored = try await call(.PUT, path)
            return
        }
        let _: Ignored = try await call(.PUT, path, body: ZoneRequest(zoneID: id))
    }

    package func changes(
        of type: RecordType, since token: String?, limit: Int
    ) async throws(SyncFailure) -> ChangesPage {
        let since = token.map { "&since=\($0.urlPart)" } ?? ""
        let body: ChangesBody = try await call(
            .GET, zonePath("changes?type=\(type.rawValue.urlPart)&limit=\(limit)\(since)"))
        guard let page = ChangesPage(body, of: type) else {
            throw SyncFailure(.other, "the cloud sent records of another type than \(type.rawValue)")
        }
        return page
    }

    package func modify(_ batch: OutboxBatch) async throws(SyncFailure) -> PushOutcome {
        let answer: ModifyAnswer = try await call(
            .POST, zonePath("records/modify"), body: ModifyRequest(records: batch.records))
        guard answer.results.count == batch.records.count, let time = UInt64(exactly: answer.serverTime) else {
            throw SyncFailure(
                .other, "the cloud answered \(answer.results.count) results to \(batch.records.count) records")
        }
        // Each result must be about the record that was sent. Otherwise another record could be stored in its place.
        guard zip(batch.records, answer.results).allSatisfy({ $1.isAbout($0.key) }) else {
            throw SyncFailure(.other, "the cloud answered about other records than it was sent")
        }
        let results = zip(batch.records, answer.results).map { record, result in
            PushResult(key: record.key, failure: result.error.map { SyncFailure($0) }, merged: result.merged)
        }
        return PushOutcome(results: results, serverTime: time)
    }
}

extension ModifyAnswer.Result {
    fileprivate func isAbout(_ key: RecordKey) -> Bool {
        type == key.type.rawValue && name == key.name && (merged.map { $0.key == key } ?? true)
    }
}

struct Ignored: Decodable {
    init(from decoder: any Decoder) {}
}
