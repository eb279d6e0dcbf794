package import Domain
import ESPHomeCore
import LinuxIO

/// A Bluetooth proxy as a person configured it.
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

    package init(
        host: String, port: Int = defaultPort, keyPath: String?, name: String? = nil, mac: MACAddress? = nil
    ) {
        (self.host, self.port, self.keyPath) = (host, port, keyPath)
        (self.name, self.mac) = (name, mac)
    }

    /// The host for people, with its port where that is not the usual one.
    package var display: String { port == Self.defaultPort ? host : "\(host):\(port)" }

    var node: ProxyNode { ProxyNode(display: display, name: name, mac: mac) }

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
