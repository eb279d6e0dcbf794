import MeterCodec
import MeterModel
import TOMLKit

extension ConfigurationFile {
    /// Most `[model.NAME]`.
    private static let modelsMax = 64

    /// Reads every `[model.NAME]`: meters that a person describes. What their keys mean is their family's business.
    func applyModels(_ models: TOMLTable, to configuration: inout Configuration) throws(ConfigurationError) {
        let names = models.keys.sorted()
        guard names.count <= Self.modelsMax else {
            throw ConfigurationError(
                "\(path): there are \(names.count) [model.…]", next: "at most \(Self.modelsMax) are read")
        }
        for name in names {
            guard let table = models[name]?.table else {
                throw wrongType("model.\(name.visible)", "a table, [model.\(name.visible)]")
            }
            do throws(DescriptionError) {
                configuration.catalogue = try configuration.catalogue.adding(
                    model: name, described: DescriptionValue.members(of: table))
            } catch {
                let key = error.key.isEmpty ? "[model.\(name.visible)]" : "model.\(name.visible).\(error.key)"
                throw ConfigurationError("\(path): \(key) \(error.problem)", next: error.remedy)
            }
        }
    }
}

extension DescriptionValue {
    fileprivate static func members(of table: TOMLTable) -> [String: DescriptionValue] {
        table.keys.reduce(into: [:]) { members, key in
            if let value = table[key] { members[key] = DescriptionValue(value) }
        }
    }

    private init(_ value: any TOMLValueConvertible) {
        if let text = value.string {
            self = .text(text)
        } else if let flag = value.bool {
            self = .flag(flag)
        } else if let number = value.int {
            self = .integer(number)
        } else if let number = value.double {
            self = .number(number)
        } else if let list = value.array {
            self = .list(list.indices.map { DescriptionValue(list[$0]) })
        } else if let table = value.table {
            self = .table(Self.members(of: table))
        } else {
            self = .other(value.debugDescription)
        }
    }
}
