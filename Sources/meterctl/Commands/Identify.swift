import ArgumentParser
import Domain
import FoundationEssentials
import MeterCodec
import ProgramKit

struct Identify: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Identify meters from descriptions of USB or Bluetooth devices, without hardware or meterd.",
        discussion:
            "The input is JSON: an object, or a list of objects, one per device. Keys of a USB device: vid, pid, "
            + "manufacturer, product, interfaces, config_descriptor_hex. Keys of a Bluetooth LE device: name, "
            + "address, address_type, adv_hex, scan_response_hex, service_uuids. Keys of a Bluetooth Classic device: "
            + "name, address. See Docs/Identities.md."
    )

    @Flag(help: "Print one JSON object per device. Its keys: given, model, family, transport, reason.")
    var json = false
    @Argument(help: "File to read, or - for standard input.", completion: .file())
    var file: String

    func run() throws {
        let verdicts = try Self.verdicts(on: try InputFile.bytes(of: file), in: file)
        guard !json else {
            return try verdicts.forEach { Terminal.exact(try JSONOutput.line(TakenFor($0, given: $0.given))) }
        }
        var table = Table(["GIVEN", "MODEL", "FAMILY", "TRANSPORT", "REASON"], wrapsLast: true)
        for verdict in verdicts {
            table.add([
                .init(verdict.given.short), .init(verdict.model?.displayName ?? "–"),
                .init(verdict.maker?.rawValue ?? "–"), .init(verdict.transport), .init(verdict.reason),
            ])
        }
        table.print()
    }

    /// - Throws: `CommandFailure` unless the text is a JSON list of objects.
    static func verdicts(
        on bytes: [UInt8], in file: String, by catalogue: MeterCatalogue = .standard
    ) throws -> [IdentityVerdict] {
        let decoder = JSONDecoder()
        let given: [GivenValue]
        let rows: [IdentityRow]
        do {
            switch try decoder.decode(GivenValue.self, from: Data(bytes)) {
            case .list(let list): given = list
            case let one: given = [one]
            }
            // Decode each row separately, so that the error names the first invalid row.
            rows = try given.map { try decoder.decode(IdentityRow.self, from: try JSONEncoder().encode($0)) }
        } catch {
            throw CommandFailure(
                .error, "\(file) is not a list of device descriptions: \(Self.words(for: error))",
                next: "meterctl identify --help says which keys an object may have")
        }
        return zip(rows, given).map { IdentityVerdict($0, given: $1, by: catalogue) }
    }

    private static func words(for error: any Error) -> String {
        switch error as? DecodingError {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context):
            "\(context.codingPath.map(\.stringValue).joined(separator: ".")): \(context.debugDescription)"
        case .dataCorrupted: "it is not JSON"
        case .some, nil: "\(error)"
        }
    }
}

extension GivenValue {
    fileprivate var short: String {
        guard case .object(let keys) = self else { return "–" }
        for key in ["meter", "what", "name", "product", "address", "vid"] {
            if case .text(let text)? = keys[key], !text.isEmpty { return text }
        }
        return "–"
    }
}
