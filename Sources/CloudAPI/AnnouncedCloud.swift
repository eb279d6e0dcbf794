package import Domain

/// A cloud found by its announcement on the network, which may be forged.
package struct AnnouncedCloud: Hashable, Sendable {
    package static let service = "_metercloud._tcp"

    /// Display name, which may be forged.
    package var name: String
    package var url: String
    /// Announced pin, which proves nothing until a person has compared it with the pin that the cloud prints.
    package var pin: CertificatePin

    /// Nil if the announcement contains no pin or no valid address.
    package init?(_ found: FoundService) {
        guard found.hasAddress, let pin = found.value(of: "pin").flatMap({ CertificatePin($0) }) else { return nil }
        (name, url, self.pin) = (found.name, "https://\(found.host):\(found.port)", pin)
    }

    package static func offer(port: Int, pin: CertificatePin, version: String) -> OfferedService {
        OfferedService(service, port: port, text: ["version=\(version)", "pin=\(pin)"])
    }
}
