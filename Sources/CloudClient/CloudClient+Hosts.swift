package import CloudAPI
package import Domain
import Gateway
import NIOHTTP1

extension CloudClient {
    /// - Parameter host: its id, or its name if only one host has it.
    package func retire(_ host: String) async throws(SyncFailure) -> HostBody {
        try await call(.POST, zonePath("hosts/\(host.urlPart)/retire"))
    }
}
