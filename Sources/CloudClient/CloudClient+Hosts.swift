package import CloudAPI
import Gateway
import NIOHTTP1
package import SyncCore

extension CloudClient {
    /// Shuts another host of the zone out for good.
    ///
    /// - Parameter host: its id, or its name where one host alone has it.
    package func retire(_ host: String) async throws(SyncFailure) -> HostBody {
        try await call(.POST, zonePath("hosts/\(host.urlPart)/retire"))
    }
}
