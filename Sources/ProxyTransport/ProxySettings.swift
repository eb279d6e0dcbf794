package import Domain
import ESPHomeCore
import LinuxIO

/// A node of ESPHome as a person configured it: a Bluetooth proxy, or a meter.
package struct ProxySettings: Hashable, Sendable {
    package static let defaultPort = 6053

    package var host: String
    package var port: Int
    /// The file with its key. Nil for plain text, which a person has to ask for.
    package var keyPath: String?
    /// Its name in ESPHome. Nil for any.
    package var name: String?
    /// The address of its network interface. Nil for any.
    package var mac: MACAddress?
    /// The table of the configuration that names it.
    package var table: String

    package init(
        host: String, port: Int = defaultPort, keyPath: String?, name: String? = nil, mac: MACAddress? = nil,
        table: String = "[[bluetooth.proxy]]"
    ) {
        (self.host, self.port, self.keyPath) = (host, port, keyPath)
        (self.name, self.mac, self.table) = (name, mac, table)
    }

    /// The host for people, with its port where that is not the usual one.
    package var display: String { port == Self.defaultPort ? host : "\(host):\(port)" }

    var node: ProxyNode { ProxyNode(display: display, name: name, mac: mac, table: table) }

    /// 32 random bytes for one connection.
    static func ephemeral(_ generator: any RandomNumberGenerator) -> [UInt8] {
        var generator = generator
        return (0..<4).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } }
    }

    /// Reads the key anew for each connection, so that a corrected file needs no restart.
    func security() throws(APIFault) -> APIWire.Security {
        guard let keyPath else { return .plaintext }
        let text: String
        do throws(SecretToken.Problem) {
            text = try SecretToken(file: keyPath, of: "key of \(display)").text
        } catch {
            throw .unsuitable("\(error.message).")
        }
        guard let key = ProxyKey(base64: text) else {
            throw .unsuitable(
                "\(keyPath) has no key of an ESPHome node: it takes the 44 characters under api: encryption: in its"
                    + " configuration, and never 32 zeros.")
        }
        return .key(key.bytes)
    }
}
