import Domain
import Foundation
import Testing
import USBTransport

/// USB rows of Tests/Identities: what published devices say of themselves.
struct PublishedDevice: Decodable, Sendable, CustomTestStringConvertible {
    var bus: String
    var meter: String?
    var what: String?
    var vid: String?
    var pid: String?
    var manufacturer: String?
    var product: String?
    var config_descriptor_hex: String?
    var interfaces: [Interface]?
    var subsystem: String?
    var expect: Expectation

    struct Interface: Decodable {
        var `class`: String?
        var driver: String?
    }

    struct Expectation: Decodable {
        var model: String?
    }

    static let all: [PublishedDevice] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Identities")
        return ["meters", "not-meters"].flatMap { name -> [PublishedDevice] in
            guard let data = try? Data(contentsOf: folder.appending(path: "\(name).json")),
                let rows = try? JSONDecoder().decode([PublishedDevice].self, from: data)
            else { return [] }  // A test says that there are some.
            return rows.filter { $0.bus == "usb" }
        }
    }()

    /// The first row of a meter.
    static func named(_ meter: String) -> PublishedDevice? { all.first { $0.meter == meter } }

    var testDescription: String { "\(meter ?? what ?? "") \(vid ?? ""):\(pid ?? "")" }

    /// As /sys has them. What nobody has published is left out; a product id must be something.
    var attributes: [String: String] {
        var all = ["idVendor": vid?.lowercased() ?? "", "idProduct": pid == "*" ? "f00d" : pid?.lowercased() ?? ""]
        all["manufacturer"] = manufacturer
        all["product"] = product
        return all
    }

    /// The class of each interface, with those that the row leaves out where it says nothing of them.
    var classes: [UInt8] {
        if let bytes = config_descriptor_hex.flatMap({ Hex.decode($0) }) {
            return USBSelfDescription.interfaces(inConfiguration: bytes).map(\.interfaceClass)
        }
        let listed = (interfaces ?? []).compactMap { $0.class.flatMap { UInt8($0, radix: 16) } }
        let hasNode = listed.contains { USBSelfDescription.Interface($0).node != nil }
        // FF alone: a KM002C is published by what a kernel driver takes; the rest has to be as its brother's.
        let assumed: [UInt8] = subsystem == "tty" || vid == "28E9" ? [0x02, 0x0A] : [0x03]
        return hasNode ? listed : listed + (listed.isEmpty ? assumed : [0x02, 0x0A, 0x03])
    }
}
