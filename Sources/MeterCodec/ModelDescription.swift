package import Domain

/// A family to which users can add models by description. Only the family interprets a description's keys.
package protocol DescribableFamily: FamilyDescription {
    /// Keys in display order. All example values together form a legal description.
    var descriptionKeys: [DescriptionKey] { get }
    /// Returns the family with an additional model.
    ///
    /// - Parameter model: a new name in this family.
    /// - Throws: an error for the first invalid value.
    func adding(_ model: ModelName, described: [String: DescriptionValue]) throws(DescriptionError) -> Self
}

extension DescribableFamily {
    package var describable: (any DescribableFamily)? { self }
}

/// Documentation of a key in model descriptions.
package struct DescriptionKey: Hashable, Sendable {
    package var name: String
    /// Default in TOML syntax, or an example if the key has no default.
    package var example: String
    package var explanation: String

    package init(_ name: String, _ example: String, _ explanation: String) {
        self.name = name
        self.example = example
        self.explanation = explanation
    }
}

/// A value of a description, independent of the file's syntax.
package indirect enum DescriptionValue: Hashable, Sendable {
    case text(String)
    case integer(Int)
    case number(Double)
    case flag(Bool)
    case list([DescriptionValue])
    case table([String: DescriptionValue])
    /// A value that no key accepts, such as a date, as written.
    case other(String)

    /// Text in error messages.
    package var shown: String {
        switch self {
        case .text(let text): "\"\(text.visible)\""
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .flag(let flag): "\(flag)"
        case .list: "a list"
        case .table: "a table"
        case .other(let text): text.visible
        }
    }
}

/// A missing or meaningless value in a description.
package struct DescriptionError: Error, Hashable, Sendable {
    /// Path of the key, such as `fields.V.factor`; empty for an error in the whole description.
    package var key: String
    /// Text of the error, with the value: `cannot be "x"`.
    package var problem: String
    package var remedy: String

    package init(_ key: String, _ problem: String, remedy: String) {
        self.key = key
        self.problem = problem
        self.remedy = remedy
    }
}

extension MeterCatalogue {
    /// Keys of a model description; empty if no family accepts descriptions.
    package var descriptionKeys: [DescriptionKey] { describable?.descriptionKeys ?? [] }

    /// - Parameter name: 1 to 32 lower-case letters, digits and hyphens; must be new.
    package func adding(
        model name: String, described values: [String: DescriptionValue]
    ) throws(DescriptionError) -> MeterCatalogue {
        guard let describable else {
            throw DescriptionError("", "describes a model, and no family takes descriptions", remedy: "take it away")
        }
        guard (1...32).contains(name.utf8.count), name.utf8.allSatisfy(\.isOfModelName) else {
            throw DescriptionError(
                "", "cannot be called \(name.quoted)",
                remedy: "a model has 1 to 32 lower-case letters, digits and \"-\"")
        }
        guard model(named: name) == nil else {
            throw DescriptionError(
                "", "has the name of a model that is known without it", remedy: "call it something else")
        }
        let model = ModelName(name, of: describable.family)
        let grown = try describable.adding(model, described: values)
        return MeterCatalogue(
            families: families.map { $0.family == grown.family ? grown : $0 },
            descriptions: descriptions.merging([name: values]) { $1 })
    }

    private var describable: (any DescribableFamily)? {
        families.lazy.compactMap(\.describable).first
    }
}

extension MeterCatalogue: Hashable {
    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.models == rhs.models && lhs.descriptions == rhs.descriptions
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(models)
        hasher.combine(descriptions)
    }
}

extension UInt8 {
    fileprivate var isOfModelName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
