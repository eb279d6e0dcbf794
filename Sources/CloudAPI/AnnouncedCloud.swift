package import Domain

/// A cloud as it announces itself in the network, or a stranger who pretends to be one.
package struct AnnouncedCloud: Hashable, Sendable {
    package static let service = "_metercloud._tcp"

    /// For people: whatever somebody wrote.
    package var name: String
    package var url: String
    /// Proves nothing until a person has compared it with what the cloud prints.
    package var pin: CertificatePin

    /// - Returns: nil without a pin, or where host and port make no address.
    package init?(_ found: FoundService) {
        guard found.hasAddress, let pin = found.value(of: "pin").flatMap({ CertificatePin($0) }) else { return nil }
        (name, url, self.pin) = (found.name, "https://\(found.host):\(found.port)", pin)
    }

    /// What a cloud announces.
    package static func offer(port: Int, pin: CertificatePin, version: String) -> OfferedService {
        OfferedService(service, port: port, text: ["version=\(version)", "pin=\(pin)"])
    }
}
