import ESPHomeCore
import LinuxIO

extension NodeSettings {
    /// Reads the file with the encryption key for each connection, so that a corrected file needs no restart.
    ///
    /// - Parameter generator: secure source of random numbers.
    func security(_ generator: any RandomNumberGenerator) throws(APIFault) -> APISecurity {
        guard let keyPath else { return .plaintext }
        let text: String
        do throws(SecretToken.Problem) {
            text = try SecretToken(file: keyPath, of: "key of \(display)").text
        } catch {
            throw .unsuitable("\(error.message).")
        }
        guard let key = NodeKey(base64: text) else {
            throw .unsuitable(
                "\(keyPath) has no key of an ESPHome node: it takes the 44 characters under api: encryption: in its"
                    + " configuration, and never 32 zeros.")
        }
        var generator = generator
        let ephemeral = (0..<4).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } }
        return .key(key.bytes, ephemeral: ephemeral)
    }
}
