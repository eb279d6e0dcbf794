import Domain
import Foundation
import MeterCodec

/// The pages that people read about their meters (Docs/Meters), beside what the drivers say.
struct MeterPages {
    let folder: URL
    let catalogue: MeterCatalogue

    static let standard = MeterPages(
        folder: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Docs/Meters"),
        catalogue: .standard.supplying(upTo: 5000))

    func page(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: "\(name).md"), encoding: .utf8)
    }

    /// A family's page is called as the family is, in capitals; Atorch's as the maker writes it.
    func name(of family: MeterFamily) -> String { family == .atorch ? "Atorch" : family.rawValue.uppercased() }

    func page(of family: MeterFamily) throws -> String { try page(name(of: family)) }

    func rules(of family: MeterFamily) -> [MeterProfile.CommandRule] {
        catalogue.models.filter { $0.family == family }
            .compactMap { catalogue.driver(for: $0) }.flatMap(\.profile.commands)
    }

    /// A command as it stands on a page, or the setting that sends it.
    static func names(of kind: MeterCommand.Kind) -> [String] {
        let setting = kind == .recordThreshold ? "threshold" : kind.rawValue
        return ["`\(kind.rawValue)`", "`\(kind.rawValue) ", " \(kind.rawValue)`", "`\(setting)="]
    }

    /// The keys under which a page promises values beside the readings: those in the first column of the table that
    /// follows its sentence on them.
    func liveKeys(of family: MeterFamily) throws -> Set<String> {
        guard let begin = try page(of: family).range(of: "Live, beside the readings") else { return [] }
        let lines = try page(of: family)[begin.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
        let rows = lines.drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }.dropFirst(2)
        return Set(
            rows.flatMap { row in
                let quoted = row.split(separator: "|")[0].split(separator: "`", omittingEmptySubsequences: false)
                return quoted.indices.filter { $0 % 2 == 1 }.map { String(quoted[$0]) }
            })
    }

    /// The line of a family in the list of all; nil where it has none.
    func line(of family: MeterFamily) throws -> Substring? {
        let link = "](\(name(of: family)).md)"
        return try page("README").split(separator: "\n").first { $0.contains(link) }
    }
}
