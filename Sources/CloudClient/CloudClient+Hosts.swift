package import CloudAPI
package import Domain
import Gateway
import NIOHTTP1

extension CloudClient {
    /// - Parameter host: id, or a name that only one host has.
    package func retire(_ host: String) async throws(SyncFailure) -> HostBody {
        try await call(.POST, zonePath("hosts/\(host.urlPart)/retire"))
    }
}
