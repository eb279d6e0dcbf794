import CloudAPI
import CloudClient
import Domain
import Foundation

/// A new host that joins each zone in the end and reads all that the cloud has: what only hosts have is lost.
struct ZoneObserver {
    let options: ChaosOptions

    func run() async throws {
        let journal = try Journal(path: try options.text("journal"))
        let urls = try options.text("urls").split(separator: ",").map(String.init)
        var random = SystemRandomNumberGenerator()
        for zone in Judge.zones {
            let enrolment = try HostProcess.enrolment(in: try options.text("enrolment"), zone: zone.name)
            let membership = try await CloudClient.join(
                urls: urls, token: Secret(enrolment), pin: nil,
                as: JoinRequest(
                    hostID: HostID(using: &random).description, hostName: "observer", machine: "machine of observer"))
            let client = try CloudClient(membership)
            try await read(zone.name, through: client, into: journal)
            await client.shutdown()
        }
        say("finished")
    }

    private func read(_ zone: String, through client: CloudClient, into journal: Journal) async throws {
        var page: ChangesPage
        var token: String?
        repeat {
            page = try await client.changes(of: .deviceSettings, since: token, limit: CloudLimits.recordsPerPage)
            token = page.token
            for record in page.records {
                for (property, register) in record.properties {
                    guard case .int(let value) = register.value else { continue }
                    journal.found(record.key.name, property, value, in: zone)
                }
            }
        } while page.moreComing
    }
}
