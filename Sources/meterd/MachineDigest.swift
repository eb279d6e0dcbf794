import Cryptography
import Domain
import FoundationEssentials
import GatewayAPI
import MeterStore

extension Machine {
    /// Digest of this machine's id. The id itself is never sent: /etc/machine-id is confidential (machine-id(5)). A
    /// board's serial number is preferred, because a copied SD card has the same /etc/machine-id.
    static var present: Machine {
        let paths = ["/sys/firmware/devicetree/base/serial-number", "/etc/machine-id", "/var/lib/dbus/machine-id"]
        let id = paths.lazy.compactMap { text(at: $0) }.first ?? ""
        let digest = SHA256.digest(Array("MeterGateway machine \(id)".utf8))
        return Machine(digest: Hex.encode(digest), boot: text(at: "/proc/sys/kernel/random/boot_id") ?? "")
    }

    private static func text(at path: String) -> String? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let trimmed = text.filter { !$0.isWhitespace && $0 != "\0" }
        return trimmed.isEmpty ? nil : trimmed
    }
}
